import { type LagSummary, lagEdgesUs } from '@guildhall/contract'

/** The arithmetic of reports: whole microseconds in, whole microseconds out. */

/** Below so many spacings a summary says that it has few. */
const fewSpacings = 30

/** The value at position ceil(percent x n / 100) of sorted values; null without one. */
export function nearestRank(sorted: ArrayLike<number>, percent: number): number | null {
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null
}

/** The mean, rounded half up; null of nothing. `sum` is at most 2^52. */
export function meanOf(sum: number, count: number): number | null {
  return count === 0 ? null : Math.floor((2 * sum + count) / (2 * count))
}

/** The time between two sends at this rate, rounded half up. */
export function periodUs(sendRateHz: number): number {
  return Math.floor((2_000_000 + sendRateHz) / (2 * sendRateHz))
}

/** Which bucket of the histogram a spacing is in; the last one is the overflow. */
export function bucketOf(spacingUs: number): number {
  let bucket = 0
  while (bucket < lagEdgesUs.length && spacingUs > (lagEdgesUs[bucket] ?? 0)) bucket += 1
  return bucket
}

/** What is known of a group, in whatever way its spacings were counted. */
export type GroupFacts = {
  key: LagSummary['key']
  spacings: number
  sumUs: number
  maxUs: number
  bodyBytes: number
  /** By bucket, the overflow last. */
  counts: ArrayLike<number>
  /** The spacing at a percentile. */
  rank(percent: number): number | null
  /** p95 of the distances to a period. */
  residual(periodUs: number): number | null
}

export function summaryOf(group: GroupFacts, sendRateHz: number | null): LagSummary {
  const counts = Array.from(group.counts)
  return {
    key: group.key,
    metric_label: 'interarrival',
    unit: 'us',
    quality: group.spacings < fewSpacings ? 'few_samples' : 'ok',
    mean_interarrival_us: meanOf(group.sumUs, group.spacings),
    p50_interarrival_us: group.rank(50),
    p95_interarrival_us: group.rank(95),
    p99_interarrival_us: group.rank(99),
    max_interarrival_us: group.spacings === 0 ? null : group.maxUs,
    body_bytes: group.bodyBytes,
    histogram: {
      unit: 'us',
      edges_us: [...lagEdgesUs],
      counts: counts.slice(0, lagEdgesUs.length),
      overflow_count: counts[lagEdgesUs.length] ?? 0,
    },
    cadence_residual_p95_us: sendRateHz === null ? null : group.residual(periodUs(sendRateHz)),
    ...notObserved,
  }
}

/** No kind that the service speaks carries packet ids. */
export const notObserved = {
  observed_id_gap: null,
  duplicate_id: null,
  arrival_reorder: null,
} as const
