import {
  absolutePathUnset,
  boolean,
  choice,
  indexes,
  integer,
  secretUnset,
  strings,
} from '../key.ts'
import { chainKey, origin } from '../values/formats.ts'

const days = [1, 3_650] as const
const queueItems = [1, 1_000_000] as const

export const storage = {
  indexes: indexes(64, 'Indexes over stored objects, with unique names.'),
}

export const chat = {
  history_limit: integer(1_000, [1, 1_000_000], 'Messages that a channel keeps.'),
}

export const notifications = {
  capacity: integer(10_000, [1, 10_000_000], 'Notifications that the deployment keeps.'),
}

export const wallet = {
  ledger_retention: integer(
    10_000,
    [100, 1_000_000_000],
    'Ledger entries that the whole deployment keeps.',
  ),
  idempotency_retention_days: integer(7, [1, 365], 'How long idempotency keys are known.'),
}

export const purchases = {
  max_receipt_bytes: integer(65_536, [1, 65_536], 'Largest receipt.'),
}

export const leaderboards = {
  execute_reset_schedules: boolean(
    false,
    'Resets boards by their schedules; must be equal on all nodes.',
  ),
  closed_periods_kept: integer(12, [1, 1_000], 'Closed periods that a board keeps.'),
}

export const tournaments = {
  notify_results: boolean(true, 'Sends each winner a notification.'),
  notify_max: integer(1_000, [1, 100_000], 'Ranks that get one.'),
}

export const logs = {
  flush_interval_ms: integer(250, [10, 60_000], 'Longest wait of a row before it is written.'),
  flush_batch_items: integer(128, [1, 10_000], 'Rows written at once.'),
  shutdown_drain_timeout_ms: integer(
    5_000,
    [0, 60_000],
    'Time to write what waits when the node stops.',
  ),
  audit_ring_capacity: integer(1_024, [1, 100_000], 'Audit entries kept in the process.'),
  audit_max_queue_items: integer(16_384, queueItems, 'Audit rows that may wait.'),
  audit_retention_days: integer(365, days, 'How long audit rows are kept.'),
  audit_chain_key: secretUnset(
    chainKey,
    'Keys the audit chain, so that write access to the database cannot forge it.',
  ),
  match_logs_max_queue_items: integer(8_192, queueItems, 'Script log rows that may wait.'),
  match_logs_max_payload_bytes: integer(8_192, [1, 65_536], 'Largest payload of such a row.'),
  match_logs_retention_days: integer(30, days, 'How long script logs are kept.'),
  telemetry_max_queue_items: integer(2_048, queueItems, 'Telemetry slices that may wait.'),
  telemetry_retention_days: integer(30, days, 'How long telemetry slices are kept.'),
  matches_max_queue_items: integer(16_384, queueItems, 'Match records that may wait.'),
  matches_retention_days: integer(
    90,
    days,
    'How long match records are kept; at least as long as script logs and telemetry slices.',
  ),
}

export const lag_diagnostics = {
  enabled: boolean(false, 'Records lag captures; needs a durable backend of one node.'),
  console_start: boolean(true, 'Admins start captures from the console, without a script.'),
  raw_root: absolutePathUnset('Folder of the raw captures; of one node alone.'),
  allowed_origins: strings(64, origin, 'Browser origins that may upload.'),
  max_compressed_bytes: integer(4_194_304, [1_024, 67_108_864], 'Largest upload.'),
  max_decompressed_bytes: integer(67_108_864, [131_072, 67_108_864], 'Its size when unpacked.'),
  max_concurrent_uploads: integer(4, [1, 64], 'Uploads at the same time.'),
  max_active_captures: integer(8, [1, 64], 'Captures at the same time.'),
  max_participants: integer(16, [1, 64], 'Participants of one capture.'),
  max_duration_ms: integer(1_800_000, [1_000, 1_800_000], 'Longest capture.'),
  flush_window_ms: integer(
    60_000,
    [5_000, 600_000],
    'Time to upload after a flush, and to flush after the end.',
  ),
  max_raw_bytes: integer(
    4_294_967_296,
    [1_048_576, 1_099_511_627_776],
    'Disk space of all raw captures.',
  ),
  retention_hours: integer(168, [1, 8_760], 'How long raw captures are kept.'),
  report_retention_days: integer(90, days, 'How long reports are kept.'),
  server_time_offer: choice(
    'on_request',
    ['on_request', 'always'],
    'When clients are offered the time of the server.',
  ),
}
