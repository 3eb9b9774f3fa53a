import {
  decodeLagHeader,
  type LagHeader,
  type LagOutcome,
  type LagQuality,
  type LagSummary,
  type LagWindow,
  lagFlags,
  lagHeaderBytes,
  lagRecordBytes,
} from '@guildhall/contract'
import { type Filter, type Group, type Grouped, groupRecords } from './records.ts'
import {
  bucketOf,
  type GroupFacts,
  meanOf,
  nearestRank,
  notObserved,
  summaryOf,
} from './spacings.ts'

export const decoderVersion = 1
export const analyzerVersion = 1

/** What a report is asked for beside its recording. */
export type AnalysisOptions = { send_rate_hz: number | null; max_windows: number }

export type AnalysisInput = {
  /** The unpacked artifact. */
  bytes: Uint8Array
  filters: readonly Filter[]
  participant: number
  options: AnalysisOptions
}

export type Analysis = {
  outcome: Extract<LagOutcome, 'no_data' | 'partial' | 'complete'>
  quality: LagQuality
  summaries: LagSummary[]
  windows: LagWindow[]
  /** Whether there are groups without windows. */
  windows_truncated: boolean
  /** Whether groups were cut from the summaries. */
  truncated: boolean
  started_at_unix_us: number | null
  span_us: number | null
  clock_uncertainty_us: number | null
}

const groupsMax = 32
const groupsWithWindowsMax = 8
const clockUncertainUs = 50_000

/**
 * Turns a recording into what a report says of it.
 *
 * @throws WireError when the bytes are no artifact
 */
export function analyze({ bytes, filters, participant, options }: AnalysisInput): Analysis {
  const header = decodeLagHeader(bytes)
  const records = bytes.subarray(lagHeaderBytes, lagHeaderBytes + size(header))
  const grouped = groupRecords(records, filters)
  const { groups } = grouped
  const kept = groups.slice(0, groupsMax)
  const excluded = groups.slice(groupsMax).reduce((sum, { count }) => sum + count, 0)
  const quality = qualityOf(header, grouped, excluded)
  const knowsClock = (header.flags & lagFlags.clock_known) !== 0
  const span_us = grouped.usable === 0 ? null : grouped.lastUs - grouped.firstUs + 1
  return {
    outcome: quality.status,
    quality,
    summaries: kept.map((group) => summaryOf(factsOf(group, participant), options.send_rate_hz)),
    windows: span_us === null ? [] : windowsOf(grouped, { span_us, participant, options }),
    windows_truncated: groups.length > groupsWithWindowsMax,
    truncated: excluded > 0,
    started_at_unix_us: knowsClock ? header.server_utc_us : null,
    span_us,
    clock_uncertainty_us: knowsClock ? header.clock_uncertainty_us : null,
  }
}

function size({ record_count }: LagHeader): number {
  return record_count * lagRecordBytes
}

function qualityOf(header: LagHeader, { usable, malformed }: Grouped, excluded: number) {
  const { flags, overwritten, skipped_as_malformed, clock_uncertainty_us } = header
  const malformed_count = malformed + skipped_as_malformed
  const isTruncated = (flags & lagFlags.truncated) !== 0
  const isPartial = overwritten > 0 || malformed_count > 0 || isTruncated || excluded > 0
  const knowsClock = (flags & lagFlags.clock_known) !== 0
  return {
    status: usable === 0 ? 'no_data' : isPartial ? 'partial' : 'complete',
    sample_count: usable,
    excluded_count: excluded,
    overwritten_count: overwritten,
    malformed_count,
    clock_uncertain: !knowsClock || clock_uncertainty_us > clockUncertainUs,
  } as const
}

function factsOf(group: Group, participant: number): GroupFacts {
  const spacings = spacingsOf(group.elapsedUs)
  const counts = new Uint32Array(9)
  for (const spacing of spacings) {
    const bucket = bucketOf(spacing)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  const sorted = spacings.sort()
  return {
    key: keyOf(group, participant),
    spacings: sorted.length,
    // The spacings of one group add up to the time between its first and its last record.
    sumUs: (group.elapsedUs.at(-1) ?? 0) - (group.elapsedUs[0] ?? 0),
    maxUs: sorted.at(-1) ?? 0,
    bodyBytes: group.bodyBytes.reduce((sum, bytes) => sum + bytes, 0),
    counts,
    rank: (percent) => nearestRank(sorted, percent),
    residual: (period) =>
      nearestRank(sorted.map((spacing) => Math.abs(spacing - period)).sort(), 95),
  }
}

function keyOf({ kind, direction, delivery }: Group, participant: number): LagSummary['key'] {
  return { participant, packet_kind: kind, direction, delivery, gameplay_epoch: 0 }
}

function spacingsOf(elapsedUs: Uint32Array): Uint32Array {
  const spacings = new Uint32Array(Math.max(0, elapsedUs.length - 1))
  for (let at = 0; at < spacings.length; at += 1) {
    spacings[at] = (elapsedUs[at + 1] ?? 0) - (elapsedUs[at] ?? 0)
  }
  return spacings
}

type Windowing = { span_us: number; participant: number; options: AnalysisOptions }

/** The first groups in equal parts of the time, part by part. */
function windowsOf({ groups, firstUs }: Grouped, windowing: Windowing): LagWindow[] {
  const { span_us, participant, options } = windowing
  const shown = groups.slice(0, groupsWithWindowsMax)
  const next = shown.map(() => 0)
  const windows: LagWindow[] = []
  for (let part = 0; part < options.max_windows; part += 1) {
    const start = firstUs + Math.floor((part * span_us) / options.max_windows)
    const end = firstUs + Math.floor(((part + 1) * span_us) / options.max_windows)
    for (const [index, group] of shown.entries()) {
      const from = next[index] ?? 0
      let to = from
      while (to < group.count && (group.elapsedUs[to] ?? 0) < end) to += 1
      next[index] = to
      if (to === from) continue
      windows.push({
        key: keyOf(group, participant),
        start_elapsed_us: start,
        end_elapsed_us: end,
        ...partOf(group, from, to),
        ...notObserved,
      })
    }
  }
  return windows
}

/** A spacing belongs to the part that has its later record. */
function partOf({ elapsedUs, bodyBytes }: Group, from: number, to: number) {
  const before = Math.max(0, from - 1)
  const sorted = spacingsOf(elapsedUs.subarray(before, to)).sort()
  const sum = (elapsedUs[to - 1] ?? 0) - (elapsedUs[before] ?? 0)
  return {
    sample_count: to - from,
    mean_interarrival_us: meanOf(sum, sorted.length),
    p95_interarrival_us: nearestRank(sorted, 95),
    max_interarrival_us: sorted.at(-1) ?? null,
    body_bytes: bodyBytes.subarray(from, to).reduce((total, bytes) => total + bytes, 0),
  }
}
