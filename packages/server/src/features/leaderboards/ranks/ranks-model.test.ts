import type { JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../../database/database.ts'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { bySystem } from '../../../kernel/mutation.ts'
import { createBoardsCheck } from '../leaderboards.checks.store.ts'
import {
  createModel,
  misshapenBlocks,
  openBoards,
  resetBoard,
  tinyBlocks,
} from '../leaderboards.fixture.ts'

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** Also such as JSON writes in other letters, or might. */
const letters = ['u', 'é', '\u{1f600}', '\uffee', '"', '\\', '/', '\u2028']
const userIds = Array.from({ length: 160 }, (_, index) => `${letters[index % 8]}${index}`)
const user = fc.constantFrom(...userIds)
const score = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: -4n, max: 4n }) },
  { weight: 1, arbitrary: fc.constantFrom(int64Max, int64Min, int64Max - 1n, int64Min + 1n) },
  { weight: 2, arbitrary: fc.bigInt({ min: int64Min, max: int64Max }) },
)
/** Whole numbers that a JavaScript number holds come back as such. */
const metadata = fc.constantFrom<JsonObject | null>(
  { level: 1 },
  { big: int64Max },
  { 'a"\n': ['\u0001\\', { b: null }], c: 0.5 },
  null,
)
const submission = fc.record({ user_id: user, score, subscore: score, metadata })
const submissions = fc.array(submission, { minLength: 2, maxLength: 60, size: 'max' })
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ is: fc.constant('submit' as const), submission }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('many' as const), submissions }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('remove' as const), user }) },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant('thin out' as const),
      from: fc.nat(40),
      some: fc.nat(120),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('reset' as const) }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never
type Submission = typeof submission extends fc.Arbitrary<infer S> ? S : never

const course = fc.record({
  sort: fc.constantFrom('asc' as const, 'desc' as const),
  operator: fc.constantFrom('best' as const, 'set' as const, 'incr' as const),
  operations: fc.array(operation, { minLength: 5, maxLength: 25, size: 'max' }),
})

/** A board and its model, both of which do the same. */
function openPair(db: Database, id: string, model: ReturnType<typeof createModel>) {
  const clock = createFakeClock()
  const boards = openBoards(db, { clock, blockSizes: tinyBlocks })
  let resets = 0

  const enter = ({ metadata: sent, ...rest }: Submission) =>
    boards.submit(bySystem, id, { ...rest, metadata: sent ?? undefined })

  async function remove(userId: string): Promise<void> {
    const removed = await boards.deleteRecord(bySystem, id, userId).then(
      () => true,
      () => false,
    )
    expect(removed).toBe(model.remove(userId))
  }

  return {
    boards,
    async apply(step: Operation): Promise<void> {
      await clock.advance(1)
      const now = clock.nowUnixMs()
      if (step.is === 'remove') return remove(step.user)
      if (step.is === 'thin out') {
        const some = model.ranked().slice(step.from, step.from + step.some)
        for (const { user_id } of some) await remove(user_id)
      } else if (step.is === 'reset') {
        resets += 1
        await resetBoard(db, id, resets)
        model.reset()
      } else {
        const sent = step.is === 'submit' ? [step.submission] : step.submissions
        const answers = await Promise.all(sent.map(enter))
        expect(answers).toEqual(sent.map((each) => model.submit(each, now)))
      }
    },
    async compare(): Promise<void> {
      const ranked = model.ranked()
      const total = ranked.length
      const middle = Math.floor(total / 2)
      const page = (limit: number, offset: number) => ({
        asked: boards.records(id, { limit, offset }),
        expected: { board: id, total, items: ranked.slice(offset, offset + limit) },
      })
      const pages = [page(500, 0), page(3, middle), page(2, Math.max(0, total - 1))]
      pages.push(page(3, total), page(9, total + 5), page(40, 101), page(1, 130))
      for (const { asked, expected } of pages) expect(await asked).toEqual(expected)
      for (const record of [ranked[0], ranked[middle], ranked.at(-1)]) {
        if (record === undefined) continue
        expect(await boards.rankOf(id, record.user_id)).toEqual(record)
        const beside = ranked.slice(Math.max(0, record.rank - 3), record.rank + 1)
        expect(await boards.around(id, record.user_id, { before: 2, after: 1 })).toEqual(beside)
      }
      expect(await boards.rankOf(id, 'nobody')).toBeUndefined()
      expect(await boards.around(id, 'nobody', { before: 2, after: 1 })).toEqual([])
    },
  }
}

describe.each(testBackends)('a board beside a sorted array on $name', (backend) => {
  let test: TestDatabase
  let made = 0
  beforeAll(async () => {
    test = await backend.open({ config: { max_connections: 8 } })
  })
  afterAll(() => test.dispose())

  it('[H-LDB-2..5] ranks, pages and counts the same after every operation', {
    timeout: 120_000,
  }, async () => {
    const { db } = test
    const check = createBoardsCheck(false)
    await fc.assert(
      fc.asyncProperty(course, async ({ sort, operator, operations }) => {
        made += 1
        const id = `board ${made}`
        const { boards, apply, compare } = openPair(db, id, createModel(sort, operator))
        await boards.create(bySystem, { id, sort, operator })
        for (const step of operations) {
          await apply(step)
          await compare()
          expect(await misshapenBlocks(db, tinyBlocks)).toEqual([])
        }
        expect(await check.examine(db, 5)).toMatchObject({ violations: 0, examples: [] })
        await boards.delete(bySystem, id)
      }),
      { numRuns: backend.name === 'in-memory' ? 25 : 6 },
    )
  })

  it('[H-LDB-4] holds on a board whose blocks have their usual sizes', async () => {
    const id = 'usual'
    const boards = openBoards(test.db)
    const model = createModel('desc', 'set')
    await boards.create(bySystem, { id, operator: 'set' })
    const records = Array.from({ length: 2500 }, (_, index) => {
      const value = BigInt((index * 7919) % 1000)
      return { user_id: `u${index}`, score: value, subscore: 0n, metadata: null }
    })
    await Promise.all(
      records.map(({ metadata: _, ...record }) => {
        model.submit({ ...record, metadata: null }, 0)
        return boards.submit(bySystem, id, record)
      }),
    )
    const ranked = model.ranked()
    for (let at = 0; at < ranked.length; at += 97) {
      const { rank, user_id } = ranked[at] ?? {}
      expect(await boards.rankOf(id, user_id ?? '')).toMatchObject({ rank, user_id })
      const page = await boards.records(id, { limit: 50, offset: at })
      expect(page.items.map((item) => item.user_id)).toEqual(
        ranked.slice(at, at + 50).map((item) => item.user_id),
      )
    }
    expect(await createBoardsCheck(false).examine(test.db, 5)).toMatchObject({ violations: 0 })
  })
})
