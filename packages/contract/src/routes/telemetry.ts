import { z } from 'zod'
import { durableId } from '../values/durable-ids.ts'
import { count, limit, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Why a telemetry slice is over. */
export const sliceCloseReasons = [
  'finished',
  'restarted',
  'active_cap',
  'marker_cap',
  'ttl',
] as const
export type SliceCloseReason = (typeof sliceCloseReasons)[number]

/** What a script counted during a part of a match; the text of markers is not kept. */
export const TelemetrySlice = once(() =>
  z.strictObject({
    report_id: z.string(),
    match_id: z.string().nullable(),
    context_kind: z.string(),
    close_reason: z.enum(sliceCloseReasons),
    closed_at_unix_ms: unixMs,
    duration_ms: count,
    marker_total: count,
    truncated: z.boolean(),
    accepted_total: count,
    rejected_total: count,
    corrected_total: count,
  }),
)
export type TelemetrySlice = z.output<ReturnType<typeof TelemetrySlice>>

const bytes = count.meta({ description: 'Bytes' })
const space = { total_bytes: bytes, available_bytes: bytes, used_bytes: bytes }

/** The machine of this node; what is not known is absent. */
export const HostTelemetry = once(() =>
  z.strictObject({
    cpu_usage_percent: z.int().min(0).max(100).optional().meta({ description: 'Over all cores' }),
    memory: z.strictObject({ ...space, process_used_bytes: bytes }).optional(),
    storage: z.strictObject({ ...space, mounted_filesystems: count }).optional(),
  }),
)
export type HostTelemetry = z.output<ReturnType<typeof HostTelemetry>>

const get = { method: 'GET', access: 'operator', scope: 'telemetry:read' } as const

export const telemetryApi = defineApi({
  host: {
    ...get,
    path: '/console/v1/telemetry',
    summary: 'Processor, memory and disks of the machine of this node',
    ofNode: true,
    ok: HostTelemetry,
  },
  slices: {
    ...get,
    path: '/console/v1/telemetry/slices',
    summary: 'Telemetry slices that scripts closed, newest first',
    query: () =>
      z.strictObject({
        match_id: durableId('mt1-').optional(),
        after: durableId('ats1-').optional(),
        limit: limit({ default: 50, cap: 100 }),
      }),
    ok: () =>
      z.strictObject({
        items: z.array(TelemetrySlice()),
        next_after: z.string().optional(),
        durable: z.boolean(),
        dropped_total: count,
      }),
  },
  slice: {
    ...get,
    path: '/console/v1/telemetry/slices/{report_id}',
    summary: 'One telemetry slice',
    params: () => z.strictObject({ report_id: z.string() }),
    ok: TelemetrySlice,
    errors: ['not_found'],
  },
})

/** How far back a history goes, from now. */
const historyRanges = ['5m', '1h', '24h'] as const

/** Something that explains why lines change. */
const HistoryMark = once(() =>
  z.strictObject({
    at_unix_ms: unixMs,
    kind: z.enum(['start', 'revision', 'migration']),
    text: z.string(),
  }),
)

export const historyApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/history',
    ofNode: true,
    access: 'operator',
    scope: 'telemetry:read',
    summary: 'The counters of this node over time, and what happened to the node meanwhile',
    query: () => z.strictObject({ range: z.enum(historyRanges) }),
    ok: () =>
      z.strictObject({
        step_ms: count.meta({ description: 'Between two values: 10 s, or 60 s for 24h' }),
        from_unix_ms: unixMs,
        series: z.record(z.string(), z.array(z.number().nullable())).meta({
          description:
            'The counters of `/status` by their names, `cpu_percent` of the machine, its ' +
            '`memory_used_bytes`, and `memory_bytes` of the process; null where nothing is known',
        }),
        marks: z.array(HistoryMark()).meta({ description: 'By time' }),
      }),
  },
})
