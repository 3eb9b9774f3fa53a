import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createBoardsCheck } from '../../doctor/boards.store.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createModel, nobody, openBoards, resetBoard, tinyBlocks } from './leaderboards.fixture.ts'

const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

const userIds = Array.from(
  { length: 70 },
  (_, index) => ['u', 'é', '\u{1f600}', '\uffee'][index % 4] + index,
)
const user = fc.constantFrom(...userIds)
const score = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: -4n, max: 4n }) },
  { weight: 1, arbitrary: fc.constantFrom(int64Max, int64Min, int64Max - 1n, int64Min + 1n) },
  { weight: 2, arbitrary: fc.bigInt({ min: int64Min, max: int64Max }) },
)
const metadata = fc.constantFrom({ level: 1n }, { who: 'me' }, null)
const submission = fc.record({ user_id: user, score, subscore: score, metadata })
const operation = fc.oneof(
  { weight: 8, arbitrary: fc.record({ is: fc.constant('submit' as const), submission }) },
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant('many' as const),
      submissions: fc.array(submission, { minLength: 2, maxLength: 40, size: 'max' }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ is: fc.constant('remove' as const), user }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('thin out' as const), rest: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('reset' as const) }) },
)
const course = fc.record({
  sort: fc.constantFrom('asc' as const, 'desc' as const),
  operator: fc.constantFrom('best' as const, 'set' as const, 'incr' as const),
  operations: fc.array(operation, { minLength: 5, maxLength: 25, size: 'max' }),
})

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
    const clock = createFakeClock()
    const { db } = test
    const boards = openBoards(db, { clock, blockSizes: tinyBlocks })
    await fc.assert(
      fc.asyncProperty(course, async ({ sort, operator, operations }) => {
        made += 1
        const id = `board ${made}`
        const model = createModel(sort, operator)
        await boards.create(nobody, { id, sort, operator })
        for (const step of operations) {
          await clock.advance(1)
          const now = clock.nowUnixMs()
          const enter = ({
            metadata,
            ...sent
          }: {
            user_id: string
            score: bigint
            subscore: bigint
            metadata: { level: bigint } | { who: string } | null
          }) => boards.enter(id, { ...sent, metadata: metadata ?? undefined })
          if (step.is === 'submit') {
            expect(await enter(step.submission)).toEqual(exact(model.submit(step.submission, now)))
          } else if (step.is === 'many') {
            const answers = await Promise.all(step.submissions.map(enter))
            expect(answers).toEqual(step.submissions.map((sent) => exact(model.submit(sent, now))))
          } else if (step.is === 'remove') {
            const removed = await boards.deleteRecord(nobody, id, step.user).then(
              () => true,
              () => false,
            )
            expect(removed).toBe(model.remove(step.user))
          } else if (step.is === 'thin out') {
            for (const { user_id } of model.ranked().slice(step.rest)) {
              await boards.deleteRecord(nobody, id, user_id)
              model.remove(user_id)
            }
          } else {
            await resetBoard(db, id, made * 1000 + operations.indexOf(step))
            model.reset()
          }
          const ranked = model.ranked().map(exact)
          const total = ranked.length
          expect(await boards.records(id, { limit: 500, offset: 0 })).toEqual({
            board: id,
            total,
            items: ranked,
          })
          const middle = Math.floor(total / 2)
          for (const offset of [middle, total - 1, total, total + 5]) {
            if (offset < 0) continue
            const items = ranked.slice(offset, offset + 3)
            expect(await boards.records(id, { limit: 3, offset })).toEqual({
              board: id,
              total,
              items,
            })
          }
          for (const record of [ranked[0], ranked[middle], ranked.at(-1)]) {
            if (record === undefined) continue
            expect(await boards.rankOf(id, record.user_id)).toEqual(record)
            const from = Math.max(0, record.rank - 3)
            const beside = ranked.slice(from, record.rank + 1)
            expect(await boards.around(id, record.user_id, { before: 2, after: 1 })).toEqual(beside)
          }
        }
        expect(await createBoardsCheck(false).examine(db, 5)).toMatchObject({
          violations: 0,
          examples: [],
        })
      }),
      { numRuns: backend.name === 'postgres' ? 12 : 40 },
    )
  })
})

/** Integers of free-form objects that a number holds come back as numbers. */
function exact<T extends { metadata: unknown }>(record: T) {
  return {
    ...record,
    metadata: JSON.parse(
      JSON.stringify(record.metadata, (_, value) =>
        typeof value === 'bigint' ? Number(value) : value,
      ),
    ),
  }
}
