import { captureStates, lagOutcomes } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const lagCaptures = defineTable('lag_captures', {
  columns: {
    capture_id: 'text',
    generation: 'integer',
    state: oneOf(...captureStates),
    created_at_unix_ms: 'time',
    deadline_unix_ms: 'time',
    label: 'text?',
    node_id: 'text',
    boot_id: 'text',
    match_id: 'text?',
    filters_json: 'text',
    offered: 'integer',
    recording: 'integer',
    failed: 'integer',
    flushing: 'integer',
    uploaded: 'integer',
    missed: 'integer',
    gone: 'integer',
  },
  key: ['capture_id'],
})

/** Recordings that were uploaded; the bytes are a file of the node. */
export const lagArtifacts = defineTable('lag_artifacts', {
  columns: {
    handle: 'text',
    capture_id: 'text',
    generation: 'integer',
    participant: 'integer',
    node_id: 'text',
    received_at_unix_ms: 'time',
    compressed_bytes: 'integer',
    record_count: 'integer',
    available: 'flag',
    server_json: 'text?',
  },
  key: ['handle'],
})

export const lagReports = defineTable('lag_reports', {
  columns: {
    report_id: 'text',
    capture_id: 'text',
    handle: 'text',
    generation: 'integer',
    decoder_version: 'integer',
    analyzer_version: 'integer',
    options_hash: 'text',
    send_rate_hz: 'integer?',
    max_windows: 'integer',
    status: oneOf(...lagOutcomes),
    node_id: 'text',
    participant: 'integer',
    label: 'text?',
    created_at_unix_ms: 'time',
    queued_at_unix_ms: 'time',
    runs: 'integer',
    server_json: 'text?',
    result_json: 'text?',
    windows_json: 'text?',
  },
  key: ['report_id'],
})
