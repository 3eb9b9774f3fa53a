/** Nearest rank: the smallest value that at least `share` (0..1) of the values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)))
  return sorted[rank - 1] ?? Number.NaN
}

/** The middle value, or the mean of the middle two; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const above = sorted[sorted.length >> 1] ?? Number.NaN
  const below = sorted[(sorted.length - 1) >> 1] ?? Number.NaN
  return (above + below) / 2
}
