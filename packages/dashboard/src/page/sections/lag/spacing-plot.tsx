import type { LagWindow } from '@guildhall/contract'
import { spacingText } from '../../../model/lag.ts'
import { type Axis, type Row, startOf } from '../../../model/lag-axis.ts'

/** The plot is drawn in hundredths of its place, which it fills. */
const size = 100

type PlotProps = Row & { axis: Axis }

/** Mean, p95 and longest spacing of each part of a recording. */
export function SpacingPlot({ report, windows, axis }: PlotProps) {
  const start = startOf(report, axis)
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
