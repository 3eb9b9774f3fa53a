import type { Migration } from './migration.ts'

/**
 * Tournaments, who takes part, how they ended, and the outbox.
 *
 * What a tournament was settled by (`settled_*`) is known from `finalizing` on: the moment that was
 * due, the order of its board (null when the board was missing) and the number of records that were
 * copied into the snapshot. The snapshot lives until the results are written.
 */
export const tournaments: Migration = {
  number: 5,
  name: 'tournaments',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE tournaments (
      id {{text}} NOT NULL PRIMARY KEY,
      leaderboard_id {{text}} NOT NULL,
      state {{text}} NOT NULL CHECK (state IN
        ('draft', 'registration_open', 'running', 'finalizing', 'completed', 'cancelled')),
      registration_opens_at_unix_ms {{bigint}} NOT NULL,
      registration_closes_at_unix_ms {{bigint}} NOT NULL,
      starts_at_unix_ms {{bigint}} NOT NULL,
      ends_at_unix_ms {{bigint}} NOT NULL,
      settled_epoch_due_at_unix_ms {{bigint}},
      settled_sort {{text}} CHECK (settled_sort IN ('asc', 'desc')),
      settled_records {{bigint}},
      created_at_unix_ms {{bigint}} NOT NULL,
      updated_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
    'CREATE INDEX tournaments_start ON tournaments (starts_at_unix_ms, id)',
    `CREATE INDEX tournaments_running ON tournaments (ends_at_unix_ms, id)
      WHERE state = 'running'`,
    `CREATE INDEX tournaments_running_on_board ON tournaments (leaderboard_id, id)
      WHERE state = 'running'`,
    `CREATE INDEX tournaments_finalizing ON tournaments (settled_epoch_due_at_unix_ms, id)
      WHERE state = 'finalizing'`,
    `CREATE TABLE tournament_entries (
      tournament_id {{text}} NOT NULL REFERENCES tournaments (id),
      user_id {{text}} NOT NULL REFERENCES accounts (id),
      registered_at_unix_ms {{bigint}} NOT NULL,
      PRIMARY KEY (tournament_id, user_id)
    ) {{strict}}`,
    `CREATE INDEX tournament_entries_order
      ON tournament_entries (tournament_id, registered_at_unix_ms, user_id)`,
    // Written by the settlement alone, by the hundred thousand: a reference costs a look per row.
    `CREATE TABLE tournament_snapshots (
      tournament_id {{text}} NOT NULL,
      user_id {{text}} NOT NULL,
      score {{bigint}} NOT NULL,
      subscore {{bigint}} NOT NULL,
      PRIMARY KEY (tournament_id, user_id)
    ) {{strict}}`,
    `CREATE TABLE tournament_results (
      tournament_id {{text}} NOT NULL,
      rank {{bigint}} NOT NULL,
      user_id {{text}} NOT NULL,
      score {{bigint}} NOT NULL,
      subscore {{bigint}} NOT NULL,
      PRIMARY KEY (tournament_id, rank)
    ) {{strict}}`,
    `CREATE UNIQUE INDEX tournament_results_user ON tournament_results (tournament_id, user_id)`,
    `CREATE TABLE outbox (
      id {{identity}},
      kind {{text}} NOT NULL,
      payload {{text}} NOT NULL,
      attempts {{bigint}} NOT NULL,
      available_at_unix_ms {{bigint}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      delivered_at_unix_ms {{bigint}}
    ) {{strict}}`,
    `CREATE INDEX outbox_waiting ON outbox (kind, available_at_unix_ms, id)
      WHERE delivered_at_unix_ms IS NULL`,
    `CREATE INDEX outbox_undelivered ON outbox (created_at_unix_ms)
      WHERE delivered_at_unix_ms IS NULL`,
    `CREATE INDEX outbox_delivered ON outbox (delivered_at_unix_ms)
      WHERE delivered_at_unix_ms IS NOT NULL`,
  ],
}
