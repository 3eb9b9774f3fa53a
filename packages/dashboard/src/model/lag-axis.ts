import type { LagReport, LagWindow } from '@guildhall/contract'

/** What all plots of a capture share, so that they can be compared by eye. */
export type Axis = {
  /** Moments in microseconds of Unix time, or since the start of a recording without a clock. */
  fromUs: number
  untilUs: number
  /** The start of a recording without a clock: that of the first one that has one. */
  zeroUs: number
  /** The longest spacing that any of them shows. */
  topUs: number
}

export type Row = {
  report: Pick<LagReport, 'started_at_unix_us'>
  windows: readonly LagWindow[]
}

/** @param rows the reports, each with the windows of the group that is shown */
export function axisOf(rows: readonly Row[]): Axis {
  const shown = rows.filter(({ windows }) => windows.length > 0)
  const starts = shown.map(({ report }) => report.started_at_unix_us ?? Infinity)
  const earliest = Math.min(...starts)
  const zeroUs = Number.isFinite(earliest) ? earliest : 0
  const ends = shown.map(({ report, windows }) => {
    return startOf(report, { zeroUs }) + (windows.at(-1)?.end_elapsed_us ?? 0)
  })
  const begins = shown.map(({ report, windows }) => {
    return startOf(report, { zeroUs }) + (windows[0]?.start_elapsed_us ?? 0)
  })
  const longest = shown.flatMap(({ windows }) =>
    windows.map((each) => each.max_interarrival_us ?? 0),
  )
  const fromUs = begins.length === 0 ? 0 : Math.min(...begins)
  return {
    fromUs,
    zeroUs,
    untilUs: Math.max(fromUs + 1, ...ends),
    topUs: Math.max(1000, ...longest),
  }
}

/** When a recording began, on the axis. */
export function startOf(
  { started_at_unix_us }: Row['report'],
  { zeroUs }: Pick<Axis, 'zeroUs'>,
): number {
  return started_at_unix_us ?? zeroUs
}
