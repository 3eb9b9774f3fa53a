import type { Migration } from './migration.ts'

/** Lag diagnostics: captures, the recordings that clients uploaded, and the reports on them. */
export const lag: Migration = {
  number: 10,
  name: 'lag',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE lag_captures (
      capture_id {{text}} NOT NULL PRIMARY KEY,
      generation {{bigint}} NOT NULL,
      state {{text}} NOT NULL
        CHECK (state IN ('recording', 'minting', 'flushing', 'sealed', 'expired')),
      created_at_unix_ms {{bigint}} NOT NULL,
      deadline_unix_ms {{bigint}} NOT NULL,
      label {{text}},
      node_id {{text}} NOT NULL,
      boot_id {{text}} NOT NULL,
      match_id {{text}},
      filters_json {{text}} NOT NULL,
      offered {{bigint}} NOT NULL,
      recording {{bigint}} NOT NULL,
      failed {{bigint}} NOT NULL,
      flushing {{bigint}} NOT NULL,
      uploaded {{bigint}} NOT NULL,
      missed {{bigint}} NOT NULL,
      gone {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE INDEX lag_captures_open ON lag_captures (node_id)
      WHERE state IN ('recording', 'minting', 'flushing')`,
    'CREATE INDEX lag_captures_time ON lag_captures (created_at_unix_ms)',
    'CREATE INDEX lag_captures_match ON lag_captures (match_id) WHERE match_id IS NOT NULL',
    `CREATE TABLE lag_artifacts (
      handle {{text}} NOT NULL PRIMARY KEY,
      capture_id {{text}} NOT NULL,
      generation {{bigint}} NOT NULL,
      participant {{bigint}} NOT NULL,
      node_id {{text}} NOT NULL,
      received_at_unix_ms {{bigint}} NOT NULL,
      compressed_bytes {{bigint}} NOT NULL,
      record_count {{bigint}} NOT NULL,
      available {{bigint}} NOT NULL CHECK (available IN (0, 1)),
      server_json {{text}}
    ) {{strict}}`,
    'CREATE INDEX lag_artifacts_capture ON lag_artifacts (capture_id, handle)',
    'CREATE INDEX lag_artifacts_node ON lag_artifacts (node_id, received_at_unix_ms)',
    `CREATE TABLE lag_reports (
      report_id {{text}} NOT NULL PRIMARY KEY,
      capture_id {{text}} NOT NULL,
      handle {{text}} NOT NULL,
      generation {{bigint}} NOT NULL,
      decoder_version {{bigint}} NOT NULL,
      analyzer_version {{bigint}} NOT NULL,
      options_hash {{text}} NOT NULL,
      send_rate_hz {{bigint}},
      max_windows {{bigint}} NOT NULL,
      status {{text}} NOT NULL CHECK (status IN
        ('no_analysis', 'pending', 'no_data', 'partial', 'complete', 'failed')),
      node_id {{text}} NOT NULL,
      participant {{bigint}} NOT NULL,
      label {{text}},
      created_at_unix_ms {{bigint}} NOT NULL,
      queued_at_unix_ms {{bigint}} NOT NULL,
      runs {{bigint}} NOT NULL,
      server_json {{text}},
      result_json {{text}},
      windows_json {{text}}
    ) {{strict}}`,
    `CREATE UNIQUE INDEX lag_reports_identity
      ON lag_reports (handle, decoder_version, analyzer_version, options_hash)`,
    'CREATE INDEX lag_reports_capture ON lag_reports (capture_id, report_id)',
    `CREATE INDEX lag_reports_pending ON lag_reports (node_id, queued_at_unix_ms, report_id)
      WHERE status = 'pending'`,
    'CREATE INDEX lag_reports_time ON lag_reports (created_at_unix_ms)',
  ],
}
