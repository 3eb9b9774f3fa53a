import { logLevels, sliceCloseReasons, terminationReasons } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const matchRecords = defineTable('match_records', {
  columns: {
    match_id: 'text',
    node_id: 'text',
    boot_id: 'text',
    room_id: 'integer',
    name: 'text?',
    map: 'text',
    mode: 'text',
    max_players: 'integer',
    opened_at_unix_ms: 'time',
    closed_at_unix_ms: 'time?',
    termination_reason: oneOf(...terminationReasons, null),
    peak_participants: 'integer',
    join_total: 'integer',
    script_revision_id: 'text?',
    script_generation: 'integer?',
    result_json: 'text?',
  },
  key: ['match_id'],
})

/** `ahead`: its id is of a later time than the line, because the clock was set back. */
export const scriptLogs = defineTable('script_logs', {
  columns: {
    log_id: 'text',
    match_id: 'text?',
    node_id: 'text',
    created_at_unix_ms: 'time',
    level: oneOf(...logLevels),
    tag: 'text',
    message: 'text',
    payload_json: 'text?',
    ahead: 'flag',
  },
  key: ['log_id'],
})

export const telemetrySlices = defineTable('telemetry_slices', {
  columns: {
    report_id: 'text',
    match_id: 'text?',
    node_id: 'text',
    context_kind: 'text',
    close_reason: oneOf(...sliceCloseReasons),
    closed_at_unix_ms: 'time',
    duration_ms: 'integer',
    marker_total: 'integer',
    truncated: 'flag',
    accepted_total: 'integer',
    rejected_total: 'integer',
    corrected_total: 'integer',
  },
  key: ['report_id'],
})
