import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { testBackends } from '../database/testing/backends.ts'
import {
  openBoards,
  resetBoard,
  tinyBlocks,
} from '../features/leaderboards/leaderboards.fixture.ts'
import { bySystem } from '../kernel/mutation.ts'
import { examine, tightBounds } from '../testing/doctor.ts'
import { seedStore } from './doctor.fixture.ts'

/** `live` has period 2 after a reset, `other` period 3, and period 4 lost its board. */
const breaches: readonly [breaks: string, by: readonly string[], ids: readonly string[]][] = [
  [
    'a board that counts a record too many',
    ["UPDATE leaderboards SET records = records + 1 WHERE id = 'live'"],
    ['live'],
  ],
  [
    'a closed period that counts a record too few',
    ['UPDATE leaderboard_periods SET records = records - 1 WHERE period = 1'],
    ['period 1'],
  ],
  [
    'two records of one user',
    [
      'DROP INDEX leaderboard_records_user',
      "UPDATE leaderboard_records SET user_id = 'u1' WHERE period = 2 AND user_id = 'u2'",
    ],
    ['period 2 u1'],
  ],
  [
    'a record that is in no block',
    ['UPDATE leaderboard_blocks SET records = 0 WHERE period = 3 AND level = 1'],
    ['period 3 level 1'],
  ],
  [
    'a block of a higher level that lost count',
    ['UPDATE leaderboard_blocks SET records = records + 1 WHERE period = 3 AND level = 3'],
    ['period 3 level 3'],
  ],
  [
    'a level without a first block',
    ['DELETE FROM leaderboard_blocks WHERE period = 3 AND level = 3'],
    ['period 3'],
  ],
  [
    'a bound that the level below lacks',
    ['DELETE FROM leaderboard_blocks WHERE period = 3 AND level = 1'],
    ['period 3', 'period 3 level 2'],
  ],
  [
    'a live period that is closed',
    ['UPDATE leaderboard_periods SET closed_at_unix_ms = 1, records = 1 WHERE period = 3'],
    ['other'],
  ],
  [
    'an old period that was never closed',
    ['UPDATE leaderboard_periods SET closed_at_unix_ms = NULL WHERE period = 1'],
    ['period 1'],
  ],
  [
    'a period of a board that is not there',
    ["UPDATE leaderboard_periods SET board_id = 'stranger' WHERE period = 1"],
    ['period 1'],
  ],
  ['records of no period', ['DELETE FROM leaderboard_periods WHERE period = 4'], ['period 4']],
  [
    'a cursor of a board whose schedule is none',
    ["UPDATE leaderboards SET next_due_at_unix_ms = 1 WHERE id = 'live'"],
    ['live'],
  ],
  [
    'a schedule that is executed without a cursor',
    ["UPDATE leaderboards SET next_due_at_unix_ms = NULL WHERE id = 'other'"],
    ['other'],
  ],
]

describe.each(testBackends)('the doctor and boards on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await open()
    db = test.db
    await seedStore(db)
    const cursorAfter = (schedule: string | null) => (schedule === '0 0 * * *' ? 5 : null)
    const boards = openBoards(db, { blockSizes: tinyBlocks, cursorAfter })
    await boards.create(bySystem, { id: 'live', reset_schedule: 'whenever' })
    const fill = (users: number) =>
      Promise.all(
        Array.from({ length: users }, (_, at) =>
          boards.submit(bySystem, 'live', { user_id: `u${at}`, score: 1n }),
        ),
      )
    await fill(2)
    await resetBoard(db, 'live', 7)
    await fill(30)
    await boards.create(bySystem, { id: 'other', reset_schedule: '0 0 * * *' })
    await boards.submit(bySystem, 'other', { user_id: 'u', score: 1n })
    await boards.create(bySystem, { id: 'gone' })
    await boards.submit(bySystem, 'gone', { user_id: 'u', score: 1n })
    await boards.delete(bySystem, 'gone')
    return () => test.dispose()
  })

  const failed = async (executesResets = true, meddling?: readonly string[]) => {
    const bounds = { ...tightBounds, executesResets }
    const diagnoses = await examine(db, { bounds, ...(meddling && { meddling }) })
    return diagnoses
      .filter(({ ok }) => !ok)
      .map(({ name, violations, examples }) => [name, violations, examples.map(({ id }) => id)])
  }

  it('[O-DOC-1] finds nothing where nothing is wrong', async () => {
    expect(await failed()).toEqual([])
    expect(await failed(false)).toEqual([['boards', 1, ['other']]])
  })

  it.each(breaches)(
    '[O-DOC-1] the check boards finds %s, and no other does',
    async (_, by, ids) => {
      expect(await failed(true, by)).toEqual([['boards', ids.length, ids]])
    },
  )
})
