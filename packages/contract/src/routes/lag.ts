import { z } from 'zod'
import {
  captureStates,
  lagDeliveries,
  lagDirections,
  lagLabelBytesMax,
  lagOutcomes,
} from '../shapes/lag.ts'
import { count, label, limit, optional, presentReference, text, unixMs } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Upper edges of the histogram of spacings, in microseconds. */
export const lagEdgesUs = [1_000, 5_000, 10_000, 20_000, 33_333, 50_000, 100_000, 250_000] as const

/** What the records of a group have in common; `inbound` is towards the client. */
const LagKey = once(() =>
  z.strictObject({
    participant: count,
    packet_kind: count,
    direction: z.enum(lagDirections),
    delivery: z.enum(lagDeliveries),
    gameplay_epoch: count,
  }),
)

const spacingUs = count.nullable().meta({
  description: 'Microseconds between two arrivals of the group; null without two of them',
})
const notObserved = count
  .nullable()
  .meta({ description: 'Null: no kind of the service carries packet ids' })

/** How far apart the envelopes of one group came. */
export const LagSummary = once(() =>
  z.strictObject({
    key: LagKey(),
    metric_label: z.literal('interarrival'),
    unit: z.literal('us'),
    quality: z.enum(['ok', 'few_samples']),
    mean_interarrival_us: spacingUs,
    p50_interarrival_us: spacingUs,
    p95_interarrival_us: spacingUs,
    p99_interarrival_us: spacingUs,
    max_interarrival_us: spacingUs,
    body_bytes: count,
    histogram: z.strictObject({
      unit: z.literal('us'),
      edges_us: z.array(count),
      counts: z.array(count),
      overflow_count: count,
    }),
    cadence_residual_p95_us: spacingUs,
    observed_id_gap: notObserved,
    duplicate_id: notObserved,
    arrival_reorder: notObserved,
  }),
)
export type LagSummary = z.output<ReturnType<typeof LagSummary>>

/** The same for one part of the time; parts without a record are left out. */
export const LagWindow = once(() =>
  z.strictObject({
    key: LagKey(),
    start_elapsed_us: count,
    end_elapsed_us: count,
    sample_count: count,
    mean_interarrival_us: spacingUs,
    p95_interarrival_us: spacingUs,
    max_interarrival_us: spacingUs,
    body_bytes: count,
    observed_id_gap: notObserved,
    duplicate_id: notObserved,
    arrival_reorder: notObserved,
  }),
)
export type LagWindow = z.output<ReturnType<typeof LagWindow>>

export const LagQuality = once(() =>
  z.strictObject({
    status: z.enum(['no_data', 'partial', 'complete']),
    sample_count: count,
    excluded_count: count,
    overwritten_count: count,
    malformed_count: count,
    clock_uncertain: z.boolean(),
  }),
)
export type LagQuality = z.output<ReturnType<typeof LagQuality>>

const forAdmins = { description: 'Only for admins' }

export const LagReport = once(() =>
  z.strictObject({
    report_id: z.string(),
    capture_id: z.string(),
    generation: count,
    decoder_version: count,
    analyzer_version: count,
    options_hash: z.string(),
    status: z.enum(lagOutcomes),
    raw_available: z.boolean().optional().meta(forAdmins),
    created_at_unix_ms: unixMs,
    quality: LagQuality().nullable(),
    summaries: z.array(LagSummary()),
    server: z.array(LagSummary()).nullable().meta({
      description: 'What the node sent and received at the same time; null when unknown',
    }),
    participant: count,
    label: z.string().nullable(),
    started_at_unix_us: count.nullable(),
    span_us: count.nullable(),
    clock_uncertainty_us: count.nullable(),
    truncated: z.boolean(),
  }),
)
export type LagReport = z.output<ReturnType<typeof LagReport>>

export const LagCapture = once(() =>
  z.strictObject({
    capture_id: z.string(),
    generation: count,
    state: z.enum(captureStates),
    created_at_unix_ms: unixMs,
    deadline_unix_ms: unixMs,
    label: z.string().nullable(),
    node_id: z.string(),
    match_id: z.string().nullable(),
    recorders: z.strictObject({
      offered: count,
      recording: count,
      failed: count,
      flushing: count,
      uploaded: count,
      missed: count,
      gone: count,
    }),
    report_count: count,
    latest_report_status: z.enum(lagOutcomes).nullable(),
    raw_available: z.boolean().optional().meta(forAdmins),
    raw_artifact_count: count.optional().meta(forAdmins),
    raw_compressed_bytes: count.optional().meta(forAdmins),
    latest_raw_received_at_unix_ms: unixMs.nullable().optional().meta(forAdmins),
  }),
)
export type LagCapture = z.output<ReturnType<typeof LagCapture>>

export const LagArtifact = once(() =>
  z.strictObject({
    handle: z.string(),
    generation: count,
    received_at_unix_ms: unixMs,
    compressed_bytes: count,
    record_count: count,
  }),
)
export type LagArtifact = z.output<ReturnType<typeof LagArtifact>>

const idPatterns = {
  capture: /^[0-9a-f]{32}$/,
  report: /^lr1-[0-9a-f]{24}$/,
  handle: /^lc1-[0-9a-f]{32}$/,
} as const

/** Whether a text can be the id of a capture, of a report, or the handle of an artifact at all. */
export function isLagId(thing: keyof typeof idPatterns, value: string): boolean {
  return idPatterns[thing].test(value)
}

function lagId(thing: keyof typeof idPatterns) {
  const pattern = idPatterns[thing]
  return text((value) => pattern.test(value), `must be the id of a ${thing}`, {
    pattern: pattern.source,
  })
}

function page(thing: keyof typeof idPatterns) {
  return z.strictObject({
    after: lagId(thing).optional(),
    limit: limit({ default: 50, cap: 100 }),
  })
}

const next_after = z.string().optional()
const read = { method: 'GET', access: 'operator', scope: 'no key' } as const
const attempt = { access: 'admin', auditsAttempts: true } as const
const reportPath = once(() => z.strictObject({ report_id: z.string() }))
const capturePath = once(() => z.strictObject({ capture_id: z.string() }))
const rawPath = once(() => z.strictObject({ capture_id: z.string(), handle: z.string() }))

export const lagApi = defineApi({
  reports: {
    ...read,
    path: '/console/v1/lag/reports',
    summary: 'Reports on the spacing of arrivals, newest first',
    query: () => page('report'),
    ok: () => z.strictObject({ items: z.array(LagReport()), next_after }),
  },
  report: {
    ...read,
    path: '/console/v1/lag/reports/{report_id}',
    summary: 'One report',
    params: reportPath,
    query: () => z.strictObject({}),
    ok: LagReport,
    errors: ['not_found'],
  },
  windows: {
    ...read,
    path: '/console/v1/lag/reports/{report_id}/windows',
    summary: 'The groups of a report in parts of its time, at most 512 rows',
    params: reportPath,
    query: () => z.strictObject({}),
    ok: () =>
      z.strictObject({
        report_id: z.string(),
        windows: z.array(LagWindow()),
        truncated: z.boolean(),
      }),
    errors: ['not_found'],
  },
  captures: {
    ...read,
    path: '/console/v1/lag/captures',
    summary: 'Captures, newest first',
    query: () =>
      page('capture').extend({
        state: z.enum(['live', 'over']).optional().meta({
          description: 'over: sealed or expired; live: every other',
        }),
        label: label(lagLabelBytesMax).optional().meta({ description: 'The whole label' }),
        match_id: presentReference().optional(),
      }),
    ok: () => z.strictObject({ items: z.array(LagCapture()), next_after }),
  },
  raw: {
    ...attempt,
    method: 'GET',
    path: '/console/v1/lag/captures/{capture_id}/raw',
    scope: 'no key',
    audit: 'lag.raw.list',
    summary: 'The recordings of a capture whose bytes are kept, newest first',
    params: capturePath,
    query: () => page('handle'),
    ok: () => z.strictObject({ items: z.array(LagArtifact()), next_after }),
    errors: ['not_found'],
  },
  download: {
    ...attempt,
    method: 'GET',
    path: '/console/v1/lag/captures/{capture_id}/raw/{handle}',
    scope: 'no key',
    audit: 'lag.raw.download',
    summary: 'The bytes of a recording as they were uploaded, compressed with gzip',
    params: rawPath,
    query: () => z.strictObject({}),
    file: true,
    errors: ['not_found'],
  },
  deleteRaw: {
    ...attempt,
    method: 'DELETE',
    path: '/console/v1/lag/captures/{capture_id}/raw/{handle}',
    audit: 'lag.raw.delete',
    summary: 'Deletes the bytes of a recording; its reports stay',
    params: rawPath,
    query: () => z.strictObject({}),
    errors: ['not_found'],
  },
  regenerate: {
    ...attempt,
    method: 'POST',
    path: '/console/v1/lag/captures/{capture_id}/regenerate',
    audit: 'lag.regenerate',
    summary: 'Analyses a recording again, with other options if they are given; waits up to 30 s',
    params: capturePath,
    query: () => z.strictObject({}),
    body: () =>
      z.strictObject({
        handle: lagId('handle'),
        options: optional(
          z.strictObject({
            send_rate_hz: optional(z.int().min(1).max(1000)),
            max_windows: optional(z.int().min(1).max(64)),
          }),
        ),
      }),
    ok: () =>
      z.strictObject({
        outcome: z.enum(['complete', 'joined', 'busy', 'failed']),
        report_id: z.string().optional(),
      }),
    errors: ['not_found', 'conflict'],
  },
})

/** Where a client uploads what it recorded; DIAG_FLUSH says so and brings the token. */
export const lagUploadApi = defineApi({
  upload: {
    method: 'POST',
    path: '/v1/diagnostics/captures/upload',
    access: 'public',
    crossOrigin: false,
    raw: true,
    summary:
      'Takes one recording: a gzip member of type application/vnd.guildhall.lag-capture, under ' +
      'the token of DIAG_FLUSH. Whatever is wrong with it, the answer is 404',
    errors: ['not_found'],
  },
})
