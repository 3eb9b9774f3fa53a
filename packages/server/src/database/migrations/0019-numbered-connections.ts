import type { Migration } from './migration.ts'

/** Connections of a session are in the order of numbers that they take when they are made. */
export const numberedConnections: Migration = {
  number: 19,
  name: 'numbered-connections',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE cluster_numbers (
      number {{identity}},
      one {{bigint}} NOT NULL UNIQUE
    ) {{strict}}`,
    'ALTER TABLE cluster_sessions ADD COLUMN number {{bigint}} NOT NULL DEFAULT 0',
  ],
}
