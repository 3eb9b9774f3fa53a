import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { statement } from '../../database/statement.ts'
import { createLeaderboards } from '../../features/leaderboards/leaderboards.service.ts'
import { atEndOfTurn } from '../../kernel/clock.ts'
import { bySystem } from '../../kernel/mutation.ts'
import { type MeasuredOptions, openDeployment } from './deployment.ts'
import { scoreOf, seedBoard, userOf } from './seeded-board.ts'

/**
 * One large board in process, without HTTP, for the benchmarks. Fills it, opens the database anew,
 * and prints for each kind of work what was done per second and how long one took, in ms.
 */
type Options = MeasuredOptions & {
  records: number
  /** How many are under way at once where the rate is measured, and where the time of one is. */
  inFlight: number
  fewInFlight: number
  seconds: number
}
const options: Options = JSON.parse(process.argv[2] ?? '')
const { records, inFlight, fewInFlight, seconds } = options
const board = 'large'

const plainParams = { user_id: 'text', skip: 'integer' } as const
const plainRank = statement({
  name: 'measured.plain-rank',
  text: `SELECT COUNT(*) AS value FROM leaderboard_records o
    JOIN leaderboard_records e ON e.period = o.period AND o.place <= e.place
    WHERE e.user_id = :user_id AND :skip >= 0
      AND e.period = (SELECT period FROM leaderboards) AND o.period = e.period`,
  params: plainParams,
  row: { value: 'integer' },
})
const plainPage = statement({
  name: 'measured.plain-page',
  text: `SELECT e.submissions AS value FROM leaderboard_records e
    WHERE e.period = (SELECT period FROM leaderboards) AND :user_id <> ''
    ORDER BY e.place LIMIT 100 OFFSET :skip`,
  params: plainParams,
  row: { value: 'integer' },
})

const filled = await openDeployment(options)
await seedBoard(filled.shared.db, board, records)
// What an in-memory database holds ends with it.
const isKept = filled.shared.db.durable
if (isKept) await filled.shared.db.close()
const openedAtMs = filled.shared.clock.monotonicMs()
const { shared, audit } = isKept ? await openDeployment(options) : filled
const { db, clock } = shared
const boards = createLeaderboards({
  db,
  clock,
  mutate: audit.mutate,
  mutateMany: audit.mutateMany,
  cursorAfter: () => null,
  resetDue: async () => undefined,
  mayReset: () => false,
})

const middle = Math.floor(records / 2)
const answered = await boards.records(board, { limit: 1, offset: middle })
const [record] = answered.items
if (answered.total !== records || record === undefined) throw new Error('the board is not whole')
const rank = (await boards.rankOf(board, record.user_id))?.rank
if (rank !== middle + 1) throw new Error('the first answer after the start is wrong')
const restartMs = clock.monotonicMs() - openedAtMs

/** Of the call; no two submissions are alike. */
let next = 0
/** Users in no order; each number is coprime to the number of records. */
const someUser = (number: number) => userOf((number * 611_953) % records)
const first = { limit: 100, offset: 0 }
const works: Record<string, Work> = {
  rank: (number) => boards.rankOf(board, someUser(number)),
  first: () => boards.records(board, first),
  middle: (number) => boards.records(board, { limit: 100, offset: middle + (number % 1000) }),
  submit: (number) =>
    boards.submit(bySystem, board, {
      user_id: someUser(number),
      score: BigInt(scoreOf(number * 31)),
    }),
}
// What the process takes once for doing this work at all is no memory of a record.
for (const work of Object.values(works)) {
  await measure(work, { inFlight, seconds: seconds / 5 })
}
const residentBefore = residentBytes()
const facts = [`restart=${restartMs}`]
for (const [name, work] of Object.entries(works)) {
  const { perSecond, p50, perCpuSecond } = await measure(work, { inFlight, seconds })
  const { p99 } = await measure(work, { inFlight: fewInFlight, seconds: seconds / 3 })
  facts.push(`${name}=${[perSecond, p50, p99, perCpuSecond].join()}`)
}
const grown = (residentBytes() - residentBefore) / records
facts.push(`plain=${(await plainMs()).join()}`, `resident=${grown}`)
process.stdout.write(`ready ${facts.join(' ')}\n`)
await db.close()

type Work = (number: number) => Promise<unknown>

/** Per second and per CPU second, median and 99th percentile of the time of one in ms. */
async function measure(work: Work, load: { inFlight: number; seconds: number }) {
  let times: number[] = []
  let isOver = false
  const workers = Array.from({ length: load.inFlight }, async () => {
    while (!isOver) {
      next += 1
      const startedMs = clock.monotonicMs()
      await work(next)
      times.push(clock.monotonicMs() - startedMs)
      // Requests come in turns of the event loop; without one, nothing else would ever happen.
      await new Promise<void>((resolve) => atEndOfTurn(resolve))
    }
  })
  await clock.sleep((load.seconds * 1000) / 3)
  times = []
  const startedMs = clock.monotonicMs()
  const cpuBefore = process.cpuUsage()
  await clock.sleep((load.seconds * 2000) / 3)
  const measured = times
  const { user, system } = process.cpuUsage(cpuBefore)
  const perSecond = (measured.length * 1000) / (clock.monotonicMs() - startedMs)
  isOver = true
  await Promise.all(workers)
  const sorted = measured.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  const perCpuSecond = (measured.length * 1_000_000) / (user + system)
  return { perSecond, p50: at(0.5), p99: at(0.99), perCpuSecond }
}

/** Without what is garbage. */
function residentBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().rss
}

/** What an index and nothing else takes for a rank and for a page in the middle. */
async function plainMs(): Promise<number[]> {
  const times: number[] = []
  for (const query of [plainRank, plainPage]) {
    const startedMs = clock.monotonicMs()
    for (let made = 0; made < 5; made += 1) {
      const rows = await db.transaction((tx) => tx.all(query, { user_id: userOf(7), skip: middle }))
      if (rows.length === 0) throw new Error('the plain query found nothing')
    }
    times.push((clock.monotonicMs() - startedMs) / 5)
  }
  return times
}
