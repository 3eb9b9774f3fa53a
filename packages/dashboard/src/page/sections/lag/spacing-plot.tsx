import type { LagReport, LagWindow } from '@guildhall/contract'
import { spacingText } from '../../../model/lag.ts'

/** What all plots of a capture share, so that they can be compared by eye. */
export type Axis = {
  /** Moments in microseconds of Unix time, or since the start of a recording without a clock. */
  fromUs: number
  untilUs: number
  /** The longest spacing that any of them shows. */
  topUs: number
}

type Row = { report: LagReport; windows: readonly LagWindow[] }

/** The plot is drawn in hundredths of its place, which it fills. */
const size = 100

/** @param rows the reports, each with the windows of the group that is shown */
export function axisOf(rows: readonly Row[]): Axis {
  const shown = rows.filter(({ windows }) => windows.length > 0)
  // A recording without a clock begins where the first one does.
  const starts = shown.map(({ report }) => report.started_at_unix_us ?? Infinity)
  const earliest = Math.min(...starts)
  const zeroUs = Number.isFinite(earliest) ? earliest : 0
  const ends = shown.map(({ report, windows }) => {
    return startOf(report, zeroUs) + (windows.at(-1)?.end_elapsed_us ?? 0)
  })
  const begins = shown.map(({ report, windows }) => {
    return startOf(report, zeroUs) + (windows[0]?.start_elapsed_us ?? 0)
  })
  const longest = shown.flatMap(({ windows }) =>
    windows.map((each) => each.max_interarrival_us ?? 0),
  )
  const fromUs = begins.length === 0 ? 0 : Math.min(...begins)
  return {
    fromUs,
    untilUs: Math.max(fromUs + 1, ...ends),
    topUs: Math.max(1000, ...longest),
  }
}

function startOf({ started_at_unix_us }: LagReport, zeroUs: number): number {
  return started_at_unix_us ?? zeroUs
}

type PlotProps = Row & { axis: Axis }

/** Mean, p95 and longest spacing of each part of a recording. */
export function SpacingPlot({ report, windows, axis }: PlotProps) {
  const start = report.started_at_unix_us ?? axis.fromUs
  const lineOf = (read: (window: LagWindow) => number | null) =>
    windows
      .flatMap((window) => {
        const us = read(window)
        if (us === null) return []
        const at = start + (window.start_elapsed_us + window.end_elapsed_us) / 2
        const x = (size * (at - axis.fromUs)) / (axis.untilUs - axis.fromUs)
        return [`${x.toFixed(2)},${(size * (1 - us / axis.topUs)).toFixed(2)}`]
      })
      .join(' ')
  const longest = Math.max(0, ...windows.map(({ max_interarrival_us }) => max_interarrival_us ?? 0))
  return (
    <figure className="spacing small muted">
      <div className="spacing-scale">
        {[1, 0.5, 0].map((part) => (
          <span key={part}>{spacingText(axis.topUs * part)}</span>
        ))}
      </div>
      <svg
        viewBox={`0 0 ${size} ${size}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Spacing over time, at most ${spacingText(longest)}`}
      >
        {[0, size / 2, size].map((y) => (
          <line key={y} x1={0} x2={size} y1={y} y2={y} />
        ))}
        <polyline className="spacing-max" points={lineOf((one) => one.max_interarrival_us)} />
        <polyline className="spacing-p95" points={lineOf((one) => one.p95_interarrival_us)} />
        <polyline className="spacing-mean" points={lineOf((one) => one.mean_interarrival_us)} />
      </svg>
      <figcaption>
        <span>0 s</span>
        <span>{((axis.untilUs - axis.fromUs) / 1e6).toFixed(1)} s</span>
      </figcaption>
    </figure>
  )
}
