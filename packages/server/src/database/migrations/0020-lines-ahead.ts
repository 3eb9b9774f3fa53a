import type { Migration } from './migration.ts'

/** Lines whose ids are ahead of them, because the clock was set back, are found by an index. */
export const linesAhead: Migration = {
  number: 20,
  name: 'lines-ahead',
  oldestBinary: '0.1.0',
  steps: [
    'ALTER TABLE script_logs ADD COLUMN ahead {{bigint}} NOT NULL DEFAULT 0',
    'CREATE INDEX script_logs_ahead ON script_logs (log_id) WHERE ahead = 1',
  ],
}
