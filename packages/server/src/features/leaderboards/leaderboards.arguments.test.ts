import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { openBoards } from './leaderboards.fixture.ts'
import type { NewBoard, NewRecord } from './leaderboards.service.ts'

const invalid = expect.objectContaining({ name: 'Failure', code: 'invalid_request' })

const wrongIds: unknown[] = ['', 'é'.repeat(65), 'a\u0000', 'a\n', '\ud800', 7, null, undefined]
const wrongUsers: unknown[] = ['', 'é'.repeat(129), 'a\u0000', '\udc00', 7, null, undefined]

describe.each(testBackends)('what scripts give to boards on $name', (backend) => {
  let test: TestDatabase
  let boards: ReturnType<typeof openBoards>
  beforeAll(async () => {
    test = await backend.open()
    boards = openBoards(test.db)
    await boards.open({ id: 'b' })
  })
  afterAll(() => test.dispose())

  it('[S-API-1] opens no board of what a console route would refuse', async () => {
    const wrong: Record<string, unknown>[] = [
      ...wrongIds.map((id) => ({ id })),
      { sort: 'up' },
      { operator: 'worst' },
      { reset_schedule: 7 },
      { reset_schedule: 'x'.repeat(1025) },
      { reset_schedule: 'x\u0000' },
      { reset_schedule: '\ud800' },
      { else: 1 },
    ]
    for (const part of wrong) {
      const board = { id: 'wrong', ...part } as NewBoard
      await expect(boards.open(board), JSON.stringify(part)).rejects.toEqual(invalid)
    }
    expect((await boards.list()).items.map(({ id }) => id)).toEqual(['b'])
    const bound = 'é'.repeat(64)
    expect(await boards.open({ id: bound })).toMatchObject({ id: bound })
  })

  it('[S-API-1] enters nothing of what a console route would refuse, and all beside it', async () => {
    const wrong: Record<string, unknown>[] = [
      ...wrongUsers.map((user_id) => ({ user_id })),
      { score: 2n ** 63n },
      { score: -(2n ** 63n) - 1n },
      { score: 2 ** 53 },
      { score: 0.5 },
      { score: '1' },
      { score: undefined },
      { subscore: 2n ** 63n },
      { metadata: [] },
      { metadata: 'text' },
      { metadata: { a: '\ud800' } },
      { metadata: { '\udc00': 1 } },
      { metadata: { a: 2n ** 63n } },
      { metadata: { a: Number.NaN } },
      { metadata: { a: undefined } },
      { else: 1 },
    ]
    // All in one turn, so that those that are right share a transaction.
    const answers = await Promise.allSettled(
      wrong.flatMap((part, at) => [
        boards.enter('b', { user_id: 'u', score: 1n, ...part } as NewRecord),
        boards.enter('b', { user_id: `right-${at}`, score: 2n ** 63n - 1n }),
      ]),
    )
    for (const [at, answer] of answers.entries()) {
      const expected =
        at % 2 === 0 ? { status: 'rejected', reason: invalid } : { status: 'fulfilled' }
      expect(answer, String(at)).toMatchObject(expected)
    }
    for (const id of wrongIds) {
      const record = { user_id: 'u', score: 1n }
      await expect(boards.enter(id as string, record)).rejects.toEqual(invalid)
    }
    expect((await boards.records('b', { limit: 1, offset: 0 })).total).toBe(wrong.length)
    const bounds = { user_id: 'é'.repeat(128), score: -(2n ** 63n), metadata: { a: '😀' } }
    expect(await boards.enter('b', bounds)).toMatchObject(bounds)
  })

  it('[S-API-1] looks for no board or user that there cannot be', async () => {
    const beside = { before: 1, after: 1 }
    const asked = [
      ...wrongIds.map((id) => [id, 'u']),
      ...wrongUsers.map((user) => ['b', user]),
    ] as [string, string][]
    for (const [id, user] of asked) {
      await expect(boards.discard(id, user)).rejects.toEqual(invalid)
      await expect(boards.rankOf(id, user)).rejects.toEqual(invalid)
      await expect(boards.around(id, user, beside)).rejects.toEqual(invalid)
    }
    for (const wrong of [-1, 501, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1', undefined]) {
      const number = wrong as number
      await expect(boards.around('b', 'u', { before: number, after: 0 })).rejects.toEqual(invalid)
      await expect(boards.around('b', 'u', { before: 0, after: number })).rejects.toEqual(invalid)
    }
    expect(await boards.around('b', 'nobody', { before: 500, after: 500 })).toEqual([])
  })
})

describe.each(testBackends)('a submission during a hold on $name', (backend) => {
  const setDue = statement({
    name: 'tests.leaderboards-set-due',
    text: 'UPDATE leaderboards SET next_due_at_unix_ms = 1',
    params: {},
  })

  it('[O-SCH-6] takes one transaction, as it does on any other board', async () => {
    const { db, dispose } = await backend.open()
    let mayReset = false
    const asked: string[] = []
    const resetDue = async (id: string) => {
      asked.push(id)
      return undefined
    }
    const boards = openBoards(db, { resetDue, mayReset: () => mayReset })
    await boards.open({ id: 'b' })
    await db.run(setDue, {})
    const record = { user_id: 'u', score: 1n }
    expect(await boards.enter('b', record)).toMatchObject({ submissions: 1 })
    expect(asked).toEqual([])
    mayReset = true
    expect(await boards.enter('b', record)).toMatchObject({ submissions: 2 })
    expect(asked).toEqual(['b'])
    await dispose()
  })
})
