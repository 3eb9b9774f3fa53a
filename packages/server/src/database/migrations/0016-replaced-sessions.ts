import type { Migration } from './migration.ts'

/** Finds the connections of a node that later ones have replaced. */
export const replacedSessions: Migration = {
  number: 16,
  name: 'replaced-sessions',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE INDEX cluster_sessions_replaced ON cluster_sessions (replaced_boot_id)
      WHERE replaced_boot_id IS NOT NULL`,
  ],
}
