import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { testBackends } from '../database/testing/backends.ts'
import { examine as examineStore } from '../testing/doctor.ts'
import { meddle, seedStore } from './doctor.fixture.ts'

const tournament = (id: string, state: string, settled: string) =>
  `INSERT INTO tournaments (id, leaderboard_id, state, registration_opens_at_unix_ms,
    registration_closes_at_unix_ms, starts_at_unix_ms, ends_at_unix_ms,
    settled_epoch_due_at_unix_ms, settled_sort, settled_records, created_at_unix_ms,
    updated_at_unix_ms)
  VALUES ('${id}', 'weekly', '${state}', 1, 2, 2, 3, ${settled}, 1, 1)`
const entry = (id: string, user: string) =>
  `INSERT INTO tournament_entries (tournament_id, user_id, registered_at_unix_ms)
  VALUES ('${id}', '${user}', 1)`
const result = (id: string, rank: number, user: string, score: number, subscore: number) =>
  `INSERT INTO tournament_results (tournament_id, rank, user_id, score, subscore)
  VALUES ('${id}', ${rank}, '${user}', ${score}, ${subscore})`
const copied = (id: string, user: string) =>
  `INSERT INTO tournament_snapshots (tournament_id, user_id, score, subscore)
  VALUES ('${id}', '${user}', 1, 1)`
const ids = ['drafted', 'open', 'running', 'gone', 'closing', 'rising', 'falling', 'boardless']

/** One of every state; of those that are completed one of each order, and one without a board. */
const seed = [
  tournament('drafted', 'draft', 'NULL, NULL, NULL'),
  tournament('open', 'registration_open', 'NULL, NULL, NULL'),
  tournament('running', 'running', 'NULL, NULL, NULL'),
  tournament('gone', 'cancelled', 'NULL, NULL, NULL'),
  tournament('closing', 'finalizing', "3, 'asc', 2"),
  tournament('rising', 'completed', "3, 'asc', 3"),
  tournament('falling', 'completed', "3, 'desc', 3"),
  tournament('boardless', 'completed', '3, NULL, 0'),
  ...ids.flatMap((id) => ['ana', 'bo', 'cy', 'gone'].map((user) => entry(id, user))),
  copied('closing', 'ana'),
  copied('closing', 'bo'),
  result('rising', 1, 'cy', 1, 9),
  result('rising', 2, 'ana', 2, 1),
  result('rising', 3, 'bo', 2, 1),
  result('falling', 1, 'bo', 2, 3),
  result('falling', 2, 'cy', 2, 2),
  result('falling', 3, 'ana', 1, 9),
]

/** The rules that are broken, each with the tournament that breaks it. */
type Breach = { breaks: string; by: readonly string[]; found: readonly string[]; pg?: string }

const breaches: readonly Breach[] = [
  {
    breaks: 'a state that there is not',
    pg: 'ALTER TABLE tournaments DROP CONSTRAINT tournaments_state_check',
    by: ["UPDATE tournaments SET state = 'paused' WHERE id = 'drafted'"],
    found: ['a tournament has one of the six states: drafted'],
  },
  ...['registration_opens_at_unix_ms = 3', 'starts_at_unix_ms = 1', 'ends_at_unix_ms = 1'].map(
    (change) => ({
      breaks: `a schedule out of order (${change})`,
      by: [`UPDATE tournaments SET ${change} WHERE id = 'open'`],
      found: ['registration opens and closes, then the tournament starts and ends: open'],
    }),
  ),
  ...[
    "settled_epoch_due_at_unix_ms = NULL WHERE id = 'boardless'",
    "settled_records = NULL WHERE id = 'boardless'",
    "settled_epoch_due_at_unix_ms = 3 WHERE id = 'running'",
    "settled_records = 0 WHERE id = 'running'",
    "settled_sort = 'asc' WHERE id = 'running'",
  ].map((change) => ({
    breaks: `something else that it was settled by (${change})`,
    by: [`UPDATE tournaments SET ${change}`],
    found: [
      `what it was settled by is known exactly from finalizing on: ${/'(\w+)'$/.exec(change)?.[1]}`,
    ],
  })),
  {
    breaks: 'a result of a running tournament',
    by: [result('running', 1, 'ana', 1, 1)],
    found: [
      'a completed tournament, and no other, has a result for each record of its snapshot: running',
    ],
  },
  {
    breaks: 'a lost result',
    by: ["DELETE FROM tournament_results WHERE tournament_id = 'rising' AND rank = 3"],
    found: [
      'a completed tournament, and no other, has a result for each record of its snapshot: rising',
    ],
  },
  {
    breaks: 'a result of somebody who did not take part',
    by: ["DELETE FROM tournament_entries WHERE tournament_id = 'rising' AND user_id = 'bo'"],
    found: ['results and snapshots are of entrants: rising'],
  },
  {
    breaks: 'a snapshot of somebody who does not take part',
    by: ["DELETE FROM tournament_entries WHERE tournament_id = 'closing' AND user_id = 'bo'"],
    found: ['results and snapshots are of entrants: closing'],
  },
  {
    breaks: 'a gap between ranks',
    by: ["UPDATE tournament_results SET rank = 4 WHERE tournament_id = 'rising' AND rank = 3"],
    found: ['ranks are 1 to n in the order of the board: rising'],
  },
  ...[
    ['rising', 'score', "score = 3 WHERE tournament_id = 'rising' AND user_id = 'cy'"],
    ['rising', 'subscore', "subscore = 0 WHERE tournament_id = 'rising' AND user_id = 'bo'"],
    ['rising', 'user id', "user_id = 'gone' WHERE tournament_id = 'rising' AND user_id = 'ana'"],
    ['falling', 'score', "score = 3 WHERE tournament_id = 'falling' AND user_id = 'ana'"],
    ['falling', 'subscore', "subscore = 4 WHERE tournament_id = 'falling' AND user_id = 'cy'"],
  ].map(([id, what, change]) => ({
    breaks: `an order that a ${what} of ${id} contradicts`,
    by: [`UPDATE tournament_results SET ${change}`],
    found: [`ranks are 1 to n in the order of the board: ${id}`],
  })),
  {
    breaks: 'a lost record of a snapshot',
    by: ["DELETE FROM tournament_snapshots WHERE user_id = 'bo'"],
    found: ['a snapshot is there exactly while the tournament is finalizing: closing'],
  },
  {
    breaks: 'a snapshot that was not dropped',
    by: [copied('boardless', 'ana')],
    found: ['a snapshot is there exactly while the tournament is finalizing: boardless'],
  },
]

describe.each(testBackends)('the doctor on tournaments on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await open()
    db = test.db
    await seedStore(db)
    await meddle(db, seed)
    return () => test.dispose()
  })

  it('[O-DOC-1] finds nothing where nothing is wrong, and looks at everything', async () => {
    const diagnoses = await examineStore(db)
    expect(diagnoses.filter(({ ok }) => !ok)).toEqual([])
    const tournaments = diagnoses.find(({ name }) => name === 'tournaments')
    expect(tournaments?.rows).toBe(seed.length)
  })

  it.each(breaches)('[O-DOC-1] finds $breaks, and nothing else', async ({ by, found, pg }) => {
    const loosened = db.backend === 'postgres' ? pg : pg && 'PRAGMA ignore_check_constraints = ON'
    const meddling = [...(loosened === undefined ? [] : [loosened]), ...by]
    const failed = (await examineStore(db, { meddling })).filter(({ ok }) => !ok)
    expect(failed.map(({ name }) => name)).toEqual(['tournaments'])
    expect(failed[0]?.examples.map(({ rule, id }) => `${rule}: ${id}`)).toEqual(found)
    expect(failed[0]?.violations).toBe(found.length)
  })
})
