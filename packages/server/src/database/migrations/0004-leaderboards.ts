import type { Migration } from './migration.ts'

/**
 * Leaderboards, their records and their periods.
 *
 * Every stretch of a board between two resets is a period with a number of its own, which no other
 * period of any board ever has. Records belong to a period by that number alone, so closing a
 * period is one new row in `leaderboard_periods` and its number in `leaderboards.period`, however
 * many records there are; what it held stays untouched under the old number until retention drops
 * it. Deleting a board takes `board_id` from its periods, and retention removes their rows in
 * batches; a board made anew under the same id starts with a new number and so without records.
 *
 * `place` is where a record stands: 8 bytes of the score, 8 of the subscore, each so that the
 * better one comes first (on a descending board the smaller bytes are the larger score), then the
 * UTF-8 bytes of the user id. Ordered by these bytes, the records of a period are in rank order
 * under both sorts.
 *
 * Blocks count the records of a live or closed period, so that a rank and a page at any offset cost
 * some hundred rows: a block of level 1 has the records from its `bound` up to the next bound of
 * that level, those of levels 2 and 3 likewise, and a bound of level 3 is one of level 2, which is
 * one of level 1. The first bound of every level is empty. Every transaction that moves a record
 * has first locked the row of its board.
 */
export const leaderboards: Migration = {
  number: 4,
  name: 'leaderboards',
  oldestBinary: '0.1.0',
  steps: [
    // `next_due_at_unix_ms` is the cursor: present exactly for boards whose schedule is executed.
    `CREATE TABLE leaderboards (
      id {{text}} NOT NULL PRIMARY KEY,
      sort {{text}} NOT NULL CHECK (sort IN ('asc', 'desc')),
      operator {{text}} NOT NULL CHECK (operator IN ('best', 'set', 'incr')),
      reset_schedule {{text}},
      period {{bigint}} NOT NULL UNIQUE,
      records {{bigint}} NOT NULL CHECK (records >= 0),
      next_due_at_unix_ms {{bigint}},
      created_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE INDEX leaderboards_due ON leaderboards (next_due_at_unix_ms, id)
      WHERE next_due_at_unix_ms IS NOT NULL`,
    // The live period of a board has no `due_at_unix_ms`; a closed one is an epoch of the board.
    `CREATE TABLE leaderboard_periods (
      period {{identity}},
      board_id {{text}},
      due_at_unix_ms {{bigint}},
      occurrences {{bigint}} NOT NULL DEFAULT 0,
      records {{bigint}} NOT NULL DEFAULT 0,
      closed_at_unix_ms {{bigint}}
    ) {{strict}}`,
    `CREATE UNIQUE INDEX leaderboard_periods_epoch
      ON leaderboard_periods (board_id, due_at_unix_ms)`,
    `CREATE INDEX leaderboard_periods_dropped ON leaderboard_periods (period)
      WHERE board_id IS NULL`,
    `CREATE TABLE leaderboard_records (
      period {{bigint}} NOT NULL,
      place {{bytes}} NOT NULL,
      user_id {{text}} NOT NULL,
      score {{bigint}} NOT NULL,
      subscore {{bigint}} NOT NULL,
      metadata {{text}},
      updated_at_unix_ms {{bigint}} NOT NULL,
      submissions {{bigint}} NOT NULL CHECK (submissions >= 1),
      PRIMARY KEY (period, place)
    ) {{clustered}}`,
    `CREATE UNIQUE INDEX leaderboard_records_user ON leaderboard_records (period, user_id)`,
    `CREATE TABLE leaderboard_blocks (
      period {{bigint}} NOT NULL,
      level {{bigint}} NOT NULL CHECK (level IN (1, 2, 3)),
      bound {{bytes}} NOT NULL,
      records {{bigint}} NOT NULL CHECK (records >= 0),
      PRIMARY KEY (period, level, bound)
    ) {{clustered}}`,
  ],
}
