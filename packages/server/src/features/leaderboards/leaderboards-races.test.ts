import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { openDatabase } from '../../database/open.ts'
import { statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { silentLog } from '../../database/testing/silent-log.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { bySystem } from '../../kernel/mutation.ts'
import { createBoardsCheck } from './leaderboards.checks.store.ts'
import { openBoards, resetBoard, tinyBlocks } from './leaderboards.fixture.ts'

describe.each(testBackends)('a board under many hands on $name', (backend) => {
  let test: TestDatabase
  let second: Database
  let nodes: ReturnType<typeof openBoards>[]
  beforeAll(async () => {
    const config = { max_connections: 8 }
    test = await backend.open({ config })
    const clock = createSystemClock()
    const deps = { url: test.url, config, clock, log: silentLog, randomness: randomBytes }
    // A file, or memory, belongs to one process: there the two nodes share the database.
    second = test.db.backend === 'postgres' ? await openDatabase(deps) : test.db
    nodes = [test.db, second].map((db) => openBoards(db, { blockSizes: tinyBlocks }))
  })
  afterAll(async () => {
    if (second !== test.db) await second.close()
    await test.dispose()
  })
  const node = (index: number) => {
    const found = nodes[index % nodes.length]
    if (found === undefined) throw new Error('no node')
    return found
  }
  const times = <T>(count: number, work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)))
  const sound = async () => {
    expect(await createBoardsCheck(false).examine(test.db, 5)).toMatchObject({ violations: 0 })
  }

  it('[H-LDB-5] [O-ID-2] counts every submission of one user, one after another', async () => {
    await node(0).create(bySystem, { id: 'sums', operator: 'incr' })
    const answers = await times(200, (index) =>
      node(index).submit(bySystem, 'sums', { user_id: 'u', score: 3n, subscore: -1n }),
    )
    const counts = answers.map(({ submissions }) => submissions).sort((a, b) => a - b)
    expect(counts).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    for (const { score, subscore, submissions } of answers) {
      expect([score, subscore]).toEqual([3n * BigInt(submissions), -BigInt(submissions)])
    }
    expect(await node(1).rankOf('sums', 'u')).toMatchObject({ rank: 1, score: 600n })
    await sound()
  })

  it('[H-LDB-4] [H-LDB-5] ranks what two nodes submit and remove, also while they do', async () => {
    await node(0).create(bySystem, { id: 'busy', operator: 'set', sort: 'asc' })
    await times(150, (index) =>
      node(index).submit(bySystem, 'busy', { user_id: `u${index}`, score: 0n }),
    )
    const work = times(600, async (index) => {
      const user_id = `u${(index * 7) % 150}`
      if (index % 5 === 0) {
        await node(index).deleteRecord(bySystem, 'busy', user_id).catch(noRecord)
      } else {
        const score = BigInt((index * 31) % 40)
        await node(index).submit(bySystem, 'busy', { user_id, score, subscore: BigInt(index % 3) })
      }
    })
    let looks = 0
    let isOver = false
    const look = async () => {
      while (!isOver) {
        looks += 1
        const { items, total } = await node(looks).records('busy', { limit: 500, offset: 0 })
        expect(items.map(({ rank }) => rank)).toEqual(items.map((_, index) => index + 1))
        expect(total).toBe(items.length)
        const owner = items[looks % Math.max(1, items.length)]?.user_id ?? 'u0'
        const beside = await node(looks).around('busy', owner, { before: 3, after: 3 })
        const [first] = beside
        expect(beside.map(({ rank }) => rank)).toEqual(
          beside.map((_, index) => (first?.rank ?? 0) + index),
        )
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const looking = look()
    await work
    isOver = true
    await looking
    expect(looks).toBeGreaterThan(0)
    const { items, total } = await node(0).records('busy', { limit: 500, offset: 0 })
    expect(total).toBe(items.length)
    const keys = items.map(({ score, subscore, user_id }) => [score, subscore, user_id] as const)
    expect(keys).toEqual(keys.toSorted(byRank))
    for (const record of items) expect(await node(1).rankOf('busy', record.user_id)).toEqual(record)
    await sound()
  })

  it('[S-API-11] opens, ranks and discards with the authority of the runtime', async () => {
    const board = { id: 'script', sort: 'asc', operator: 'best', reset_schedule: null } as const
    expect(await node(0).create(bySystem, board)).toEqual({ ...board, records: 0 })
    await expect(node(1).create(bySystem, board)).rejects.toMatchObject({ code: 'conflict' })
    for (const at of [1, 2, 3])
      await node(at).submit(bySystem, 'script', { user_id: `u${at}`, score: BigInt(at) })
    expect(await node(1).rankOf('script', 'u3')).toMatchObject({ rank: 3, submissions: 1 })
    expect(await node(1).discard(bySystem, 'script', 'u1')).toBe(true)
    expect(await node(0).discard(bySystem, 'script', 'u1')).toBe(false)
    expect(await node(0).rankOf('script', 'u3')).toMatchObject({ rank: 2 })
    expect(await node(0).rankOf('script', 'u1')).toBeUndefined()
    const nowhere = { code: 'not_found' }
    await expect(node(0).discard(bySystem, 'nowhere', 'u1')).rejects.toMatchObject(nowhere)
    await expect(node(0).rankOf('nowhere', 'u1')).rejects.toMatchObject(nowhere)
    const beside = { before: 1, after: 1 }
    await expect(node(0).around('nowhere', 'u1', beside)).rejects.toMatchObject(nowhere)
    await sound()
  })

  it('[H-LDB-1] opens one board of many that are asked for at once', async () => {
    const outcomes = await times(12, (index) =>
      node(index)
        .create(bySystem, { id: 'once' })
        .then(
          () => 'created',
          (error: { code?: string }) => error.code,
        ),
    )
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(11)
    await sound()
  })

  it('[H-LDB-5] lets nothing survive the end of a board, whoever submits meanwhile', async () => {
    for (let round = 0; round < 4; round += 1) {
      await node(round).create(bySystem, { id: 'short' })
      const submitting = times(60, (index) =>
        node(index)
          .submit(bySystem, 'short', { user_id: `u${index}`, score: 1n })
          .catch(noRecord),
      )
      await Promise.all([submitting, node(round + 1).delete(bySystem, 'short')])
      await expect(node(0).records('short', { limit: 1, offset: 0 })).rejects.toMatchObject({
        code: 'not_found',
      })
      await sound()
    }
  })

  it('[O-SCH-4] loses and doubles nothing where a reset meets submissions', async () => {
    await node(0).create(bySystem, { id: 'reset', operator: 'incr' })
    const submitting = times(240, (index) =>
      node(index).submit(bySystem, 'reset', { user_id: `u${index % 40}`, score: 1n }),
    )
    const resets = [1, 2, 3].map((due) =>
      resetBoard(due % 2 === 0 ? second : test.db, 'reset', due),
    )
    await Promise.all([submitting, ...resets])
    await sound()
    const kept = await test.db.all(submissions, { board_id: 'reset' })
    expect(kept.map(({ submitted }) => submitted).reduce((sum, each) => sum + each, 0)).toBe(240)
  })
})

const submissions = statement({
  name: 'tests.leaderboards-submitted',
  text: `SELECT e.submissions AS submitted FROM leaderboard_periods p
    JOIN leaderboard_records e ON e.period = p.period WHERE p.board_id = :board_id`,
  params: { board_id: 'text' },
  row: { submitted: 'integer' },
})

function noRecord(error: { code?: string }): void {
  expect(error.code).toBe('not_found')
}

type Key = readonly [score: bigint, subscore: bigint, userId: string]

function byRank(a: Key, b: Key): number {
  return (
    Number(a[0] - b[0]) ||
    Number(a[1] - b[1]) ||
    Buffer.compare(Buffer.from(a[2]), Buffer.from(b[2]))
  )
}
