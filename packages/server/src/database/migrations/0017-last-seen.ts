import type { Migration } from './migration.ts'

/** When accounts were last seen, of those whose sessions are gone. */
export const lastSeen: Migration = {
  number: 17,
  name: 'last-seen',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE account_last_seen (
      account_id {{text}} NOT NULL PRIMARY KEY,
      seen_at_unix_ms {{bigint}} NOT NULL
    ) {{strict}}`,
  ],
}
