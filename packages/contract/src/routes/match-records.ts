import { z } from 'zod'
import { durableId } from '../values/durable-ids.ts'
import { count, limit, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { AuditEntry } from './audit.ts'
import { defineApi } from './route.ts'
import { LogLine, logPage } from './script-logs.ts'
import { TelemetrySlice } from './telemetry.ts'

/** Why a match is over: everybody left, the server ended it, or nobody ever came. */
export const terminationReasons = [
  'final_departure',
  'server_closed',
  'formation_abandoned',
] as const
export type TerminationReason = (typeof terminationReasons)[number]

/** What is kept of a match: nothing of those who played it but their number. */
export const MatchRecord = once(() =>
  z.strictObject({
    match_id: z.string(),
    node_id: z.string(),
    boot_id: z.string(),
    room_id: count,
    name: z.string().nullable(),
    map: z.string(),
    mode: z.string(),
    max_players: count,
    clock_epoch: count,
    opened_at_unix_ms: unixMs,
    closed_at_unix_ms: unixMs.optional().meta({ description: 'Absent while the match is open' }),
    termination_reason: z.enum(terminationReasons).optional(),
    peak_participants: count,
    join_total: count,
    open: z.boolean(),
    script_revision_id: z.string().nullable(),
    script_generation: count.nullable(),
  }),
)
export type MatchRecord = z.output<ReturnType<typeof MatchRecord>>

const withResult = once(() => ({
  ...MatchRecord().shape,
  result_json: z.string().optional().meta({ description: 'The text that the script gave' }),
}))

/** How much else there is about a match; `audit` is 0 always. */
const MatchCounts = once(() =>
  z.strictObject({
    logs: count,
    telemetry_slices: count,
    lag_reports: count,
    audit: count,
  }),
)
export type MatchCounts = z.output<ReturnType<typeof MatchCounts>>

const LagReportReference = once(() =>
  z.strictObject({
    report_id: z.string(),
    capture_id: z.string(),
    status: z.string(),
    created_at_unix_ms: unixMs,
  }),
)

const get = { method: 'GET', access: 'operator', scope: 'matches:read', trail: 'ring' } as const
const matchPath = once(() => z.strictObject({ match_id: z.string() }))

export const matchRecordsApi = defineApi({
  list: {
    ...get,
    path: '/console/v1/matchlogs',
    audit: 'matchlog.list',
    summary: 'Records of matches, newest first',
    query: () =>
      z.strictObject({
        open: z.enum(['true', 'false']).optional().meta({
          description: 'true shows open matches only',
        }),
        after: durableId('mt1-').optional(),
        limit: limit({ default: 50, cap: 200 }),
      }),
    ok: () =>
      z.strictObject({
        items: z.array(MatchRecord()),
        next_after: z.string().optional(),
        durable: z.boolean(),
        dropped_total: count,
      }),
  },
  get: {
    ...get,
    path: '/console/v1/matchlogs/{match_id}',
    audit: 'matchlog.detail',
    summary: 'One record with its result, and how much else there is about the match',
    params: matchPath,
    query: () => z.strictObject({}),
    ok: () => z.strictObject({ ...withResult(), counts: MatchCounts() }),
    errors: ['not_found'],
  },
  entries: {
    ...get,
    path: '/console/v1/matchlogs/{match_id}/entries',
    audit: 'matchlog.entries',
    summary: 'One record with its lines, newest first, and up to 50 of everything else',
    params: matchPath,
    query: () => z.strictObject(logPage),
    ok: () =>
      z.strictObject({
        record: z.strictObject(withResult()),
        logs: z.array(LogLine()),
        logs_next_after: z.string().optional(),
        telemetry_slices: z.array(TelemetrySlice()),
        lag_reports: z.array(LagReportReference()),
        audit: z.array(AuditEntry()),
        counts: MatchCounts(),
      }),
    errors: ['not_found'],
  },
})
