import { Tournament, type TournamentState, tournamentsApi } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { createLeases } from '../../database/jobs/leases.ts'
import { batchStatement, statement } from '../../database/statement.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { createDelivery } from '../../node/features/play-features.ts'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import type { Scenario } from '../../testing/scenario.ts'

/** An end that no clock has seen; and one that the database's has, but not a scenario's. */
export const farUnixMs = 4_000_000_000_000
export const endedUnixMs = 1_740_000_000_000

export type TournamentOperator = Awaited<ReturnType<typeof openTournamentOperator>>

type Draft = Partial<
  Pick<Tournament, 'id' | 'leaderboard_id'> & {
    registration_opens_at_unix_ms: number
    registration_closes_at_unix_ms: number
    starts_at_unix_ms: number
    ends_at_unix_ms: number
  }
>

/** The admin's requests about tournaments on one node. */
export async function openTournamentOperator(
  api: Pick<TestApi, 'call' | 'features'>,
  db: Database,
) {
  const operator = await openOperator(api)
  let made = 0

  const draftOf = (request: Draft) => {
    made += 1
    const end = request.ends_at_unix_ms ?? endedUnixMs
    return {
      id: `cup ${made} of ${operator.token.slice(0, 8)}`,
      leaderboard_id: 'weekly',
      registration_opens_at_unix_ms: 0,
      registration_closes_at_unix_ms: end,
      starts_at_unix_ms: end,
      ends_at_unix_ms: end,
      ...request,
    }
  }
  const path = (id: string) => `/tournaments/${encodeURIComponent(id)}`
  const transition = (id: string, state: unknown, headers?: Record<string, string>) =>
    operator.send('POST', `${path(id)}/transition`, { state }, headers)

  return {
    ...operator,
    draftOf,
    path,
    transition,
    create: (draft: object, headers?: Record<string, string>) =>
      operator.send('POST', '/tournaments', draft, headers),
    /** Drafts a tournament that must be drafted; its end has passed by default. */
    async make(request: Draft = {}): Promise<Tournament> {
      return tournamentIn(await operator.send('POST', '/tournaments', draftOf(request)))
    },
    /** Moves a tournament along these states. */
    async move(id: string, ...states: TournamentState[]): Promise<Tournament> {
      let moved: Tournament | undefined
      for (const state of states) moved = tournamentIn(await transition(id, state))
      return moved ?? this.get(id)
    },
    /** A running tournament with these entrants; its times pass once they are registered. */
    async run(entrants: readonly string[], request: Draft = {}): Promise<Tournament> {
      const { id } = await this.make({ ...request, ends_at_unix_ms: farUnixMs })
      await this.move(id, 'registration_open')
      for (const user of entrants) await api.features.tournaments.register(id, user)
      const { ends_at_unix_ms = endedUnixMs } = request
      await db.run(setTimes, { id, ends_at_unix_ms })
      return this.move(id, 'running')
    },
    async get(id: string): Promise<Tournament> {
      return tournamentIn(await operator.send('GET', path(id)))
    },
    async list(): Promise<Tournament[]> {
      return tournamentsApi.list.ok.parse((await operator.send('GET', '/tournaments')).body).items
    },
    async entrants(id: string): Promise<string[]> {
      const { items } = tournamentsApi.entries.ok.parse(
        (await operator.send('GET', `${path(id)}/entries`)).body,
      )
      return items.map(({ user_id }) => user_id)
    },
    /** The final ranking as `user rank score subscore`, with all digits. */
    async results(id: string): Promise<string[]> {
      const { text } = await operator.send('GET', `${path(id)}/results`)
      const items = resultsIn(text)
      return items.map(({ user_id, rank, score, subscore }) =>
        [user_id, rank, score, subscore].join(' '),
      )
    },
  }
}

/** Reads the tournament that a request was answered with. */
export function tournamentIn(answer: ApiAnswer): Tournament {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${answer.text}`)
  return Tournament().parse(answer.body)
}

/** Reads results from an answer's text: a number of JavaScript has not all digits of a score. */
function resultsIn(text: string) {
  const { items, total } = tournamentsApi.results.ok.parse(readJson(text).value)
  if (total !== items.length) throw new Error('the total is not the number of results')
  return items
}

/** What settles and delivers on one node, with a lease of its own. */
export function backgroundOf(
  scenario: Pick<Scenario, 'clock' | 'db' | 'rowsOf'>,
  api: TestApi,
  holder = 'bt1-tests',
) {
  const { clock, db } = scenario
  const leases = createLeases({ db, clock, log: createRecordedLog(), holder, lifeMs: 15_000 })
  const lease = leases.of('settlement')
  const settlement = api.features.tournaments.settlementOf(lease)
  const seen: [hook: string, event: unknown][] = []
  const shared = { ...scenario, log: createRecordedLog() }
  const { courier } = createDelivery(shared, api.features, {
    ready: () => true,
    async deliver(hook, event) {
      seen.push([hook, JSON.parse(event)])
    },
  })
  const run = { signal: new AbortController().signal, progress() {} }
  return {
    leases,
    lease,
    settlement,
    seen,
    settle: () => settlement.settle(run),
    /** Delivers until nothing is left that was not delivered. */
    async deliver(): Promise<void> {
      while ((await scenario.rowsOf('outbox', 'delivered_at_unix_ms IS NULL')).length > 0) {
        await courier.look()
        // A commit to a file needs turns of the event loop.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    courier,
  }
}

const setTimes = statement({
  name: 'tests.set-tournament-times',
  text: `UPDATE tournaments SET registration_closes_at_unix_ms = :ends_at_unix_ms,
      starts_at_unix_ms = :ends_at_unix_ms, ends_at_unix_ms = :ends_at_unix_ms
    WHERE id = :id`,
  params: { id: 'text', ends_at_unix_ms: 'integer' },
})
const insertPeriod = statement({
  name: 'tests.insert-period',
  text: 'INSERT INTO leaderboard_periods (board_id) VALUES (:board_id) RETURNING period',
  params: { board_id: 'text' },
  row: { period: 'integer' },
})
const insertBoard = statement({
  name: 'tests.insert-board',
  text: `INSERT INTO leaderboards (id, sort, operator, period, records, created_at_unix_ms)
    VALUES (:id, :sort, 'set', :period, 0, 0)`,
  params: { id: 'text', sort: 'text', period: 'integer' },
})
const insertRecords = batchStatement({
  name: 'tests.insert-records',
  text: `INSERT INTO leaderboard_records (period, place, user_id, score, subscore,
      updated_at_unix_ms, submissions)
    SELECT r.period, r.place, r.user_id, r.score, r.subscore, 0, 1 FROM {{rows}} AS r`,
  params: {
    period: 'integer',
    place: 'bytes',
    user_id: 'text',
    score: 'bigint',
    subscore: 'bigint',
  },
})

export type Score = readonly [user_id: string, score: bigint, subscore?: bigint]

/** A board with these records, put there without the feature that keeps boards. */
export async function putBoard(
  db: Database,
  board: { id: string; sort: 'asc' | 'desc'; scores: readonly Score[] },
): Promise<number> {
  return db.transaction(async (tx: Transaction) => {
    const row = await tx.get(insertPeriod, { board_id: board.id })
    if (row === undefined) throw new Error('the period did not come back')
    const { period } = row
    await tx.run(insertBoard, { id: board.id, sort: board.sort, period })
    await tx.each(
      insertRecords,
      board.scores.map(([user_id, score, subscore = 0n], index) => {
        const place = new Uint8Array(Buffer.from(String(index)))
        return { period, place, user_id, score, subscore }
      }),
    )
    return period
  })
}
