import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { bySystem } from '../../../kernel/mutation.ts'
import { rowsOf } from '../../../testing/tables.ts'
import { createBoardsCheck } from '../leaderboards.checks.store.ts'
import { openBoards, resetBoard, tinyBlocks } from '../leaderboards.fixture.ts'
import { createLeaderboardPruners } from './retention.jobs.ts'

describe.each(testBackends)('what boards leave behind on $name', ({ open }) => {
  let test: TestDatabase
  let boards: ReturnType<typeof openBoards>
  beforeEach(async () => {
    test = await open()
    boards = openBoards(test.db, { blockSizes: tinyBlocks })
  })
  afterEach(() => test.dispose())

  const fill = (id: string, users: number) =>
    Promise.all(
      Array.from({ length: users }, (_, at) =>
        boards.submit(bySystem, id, { user_id: `u${at}`, score: 1n }),
      ),
    )
  const countOf = async (table: string) => (await rowsOf(test.db, table)).length
  const rowsLeft = async () =>
    (await countOf('leaderboard_periods')) +
    (await countOf('leaderboard_records')) +
    (await countOf('leaderboard_blocks'))
  const prunerOf = (kept: number) =>
    createLeaderboardPruners({ db: test.db, config: { closed_periods_kept: kept } }).periods
  const sound = async () =>
    expect(await createBoardsCheck(false).examine(test.db, 5)).toMatchObject({ violations: 0 })

  it('[O-RET-1] removes a deleted board in batches of any size, and touches no other', async () => {
    for (const id of ['a', 'b']) await boards.create(bySystem, { id })
    await fill('a', 50)
    await resetBoard(test.db, 'a', 1)
    await fill('a', 20)
    await fill('b', 30)
    const before = await rowsLeft()
    await boards.delete(bySystem, 'a')
    expect(await rowsLeft()).toBe(before)
    await boards.create(bySystem, { id: 'a' })
    await fill('a', 3)
    const prune = prunerOf(12)
    let left = await rowsLeft()
    for (;;) {
      const removed = await prune(7)
      expect(await rowsLeft()).toBe(left - removed)
      left -= removed
      await sound()
      if (removed < 7) break
    }
    expect(await prune(7)).toBe(0)
    expect((await rowsOf(test.db, 'leaderboard_periods')).map(({ board_id }) => board_id)).toEqual(
      expect.arrayContaining(['a', 'b']),
    )
    expect(await countOf('leaderboard_periods')).toBe(2)
    expect(await countOf('leaderboard_records')).toBe(33)
    expect((await boards.records('b', { limit: 500, offset: 0 })).total).toBe(30)
    expect((await boards.records('a', { limit: 500, offset: 0 })).total).toBe(3)
  })

  it('[O-RET-1] keeps the newest closed periods of each board, and all their records', async () => {
    for (const id of ['a', 'b']) {
      await boards.create(bySystem, { id })
      for (let due = 1; due <= 5; due += 1) {
        await fill(id, 10 * due)
        await resetBoard(test.db, id, due)
      }
      await fill(id, 2)
    }
    const prune = prunerOf(2)
    while ((await prune(13)) === 13);
    await sound()
    const periods = await rowsOf(test.db, 'leaderboard_periods')
    const kept = periods.map(({ board_id, due_at_unix_ms, records }) => {
      return [board_id, due_at_unix_ms === null ? null : Number(due_at_unix_ms), Number(records)]
    })
    expect(kept.toSorted()).toEqual(
      ['a', 'b']
        .flatMap((id) => [
          [id, null, 0],
          [id, 4, 40],
          [id, 5, 50],
        ])
        .toSorted(),
    )
    expect(await countOf('leaderboard_records')).toBe(2 * (40 + 50 + 2))
  })
})
