import type { Migration } from './migration.ts'

/** Lag captures by what a list of them is filtered by, newest first. */
export const captureFilters: Migration = {
  number: 18,
  name: 'capture-filters',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE INDEX lag_captures_live ON lag_captures (capture_id)
      WHERE state IN ('recording', 'minting', 'flushing')`,
    `CREATE INDEX lag_captures_label ON lag_captures (label, capture_id)
      WHERE label IS NOT NULL`,
    'DROP INDEX lag_captures_match',
    `CREATE INDEX lag_captures_match ON lag_captures (match_id, capture_id)
      WHERE match_id IS NOT NULL`,
  ],
}
