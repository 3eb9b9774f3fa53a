import type { Migration } from './migration.ts'

/** What scripts want to run by the clock. */
export const schedules: Migration = {
  number: 13,
  name: 'schedules',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE script_schedules (
      name {{text}} NOT NULL PRIMARY KEY,
      cron {{text}} NOT NULL,
      next_due_at_unix_ms {{bigint}} NOT NULL,
      fencing_token {{bigint}} NOT NULL,
      seen_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
  ],
}
