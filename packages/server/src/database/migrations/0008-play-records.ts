import type { Migration } from './migration.ts'

/** What is kept of play: matches, lines that scripts write, and what they count. */
export const playRecords: Migration = {
  number: 8,
  name: 'play-records',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE match_records (
      match_id {{text}} NOT NULL PRIMARY KEY,
      node_id {{text}} NOT NULL,
      boot_id {{text}} NOT NULL,
      room_id {{bigint}} NOT NULL,
      name {{text}},
      map {{text}} NOT NULL,
      mode {{text}} NOT NULL,
      max_players {{bigint}} NOT NULL,
      opened_at_unix_ms {{bigint}} NOT NULL,
      closed_at_unix_ms {{bigint}},
      termination_reason {{text}}
        CHECK (termination_reason IN ('final_departure', 'server_closed', 'formation_abandoned')),
      peak_participants {{bigint}} NOT NULL,
      join_total {{bigint}} NOT NULL,
      script_revision_id {{text}},
      script_generation {{bigint}},
      result_json {{text}}
    ) {{strict}}`,
    `CREATE INDEX match_records_open ON match_records (match_id, node_id, boot_id)
      WHERE closed_at_unix_ms IS NULL`,
    `CREATE INDEX match_records_closed ON match_records (closed_at_unix_ms)
      WHERE closed_at_unix_ms IS NOT NULL`,
    `CREATE TABLE script_logs (
      log_id {{text}} NOT NULL PRIMARY KEY,
      match_id {{text}},
      node_id {{text}} NOT NULL,
      created_at_unix_ms {{bigint}} NOT NULL,
      level {{text}} NOT NULL CHECK (level IN ('trace', 'debug', 'info', 'warn', 'error')),
      tag {{text}} NOT NULL,
      message {{text}} NOT NULL,
      payload_json {{text}}
    ) {{strict}}`,
    `CREATE INDEX script_logs_match ON script_logs (match_id, log_id)
      WHERE match_id IS NOT NULL`,
    'CREATE INDEX script_logs_level ON script_logs (level, log_id)',
    'CREATE INDEX script_logs_time ON script_logs (created_at_unix_ms)',
    `CREATE TABLE telemetry_slices (
      report_id {{text}} NOT NULL PRIMARY KEY,
      match_id {{text}},
      node_id {{text}} NOT NULL,
      context_kind {{text}} NOT NULL,
      close_reason {{text}} NOT NULL
        CHECK (close_reason IN ('finished', 'restarted', 'active_cap', 'marker_cap', 'ttl')),
      closed_at_unix_ms {{bigint}} NOT NULL,
      duration_ms {{bigint}} NOT NULL,
      marker_total {{bigint}} NOT NULL,
      truncated {{bigint}} NOT NULL CHECK (truncated IN (0, 1)),
      accepted_total {{bigint}} NOT NULL,
      rejected_total {{bigint}} NOT NULL,
      corrected_total {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE INDEX telemetry_slices_match ON telemetry_slices (match_id, report_id)
      WHERE match_id IS NOT NULL`,
    'CREATE INDEX telemetry_slices_time ON telemetry_slices (closed_at_unix_ms)',
  ],
}
