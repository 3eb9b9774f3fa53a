import type { LagSummary } from '@guildhall/contract'
import { spacingText } from '../../../model/lag.ts'
import { grouped } from '../../../model/time.ts'

const [barWidth, gap, height, foot] = [34, 4, 110, 30]

/** How many spacings were how long, at the player and at the node; a line is the node's median. */
export function Histogram({
  summary,
  node,
}: {
  summary: LagSummary
  node: LagSummary | undefined
}) {
  const { edges_us } = summary.histogram
  const sides = [partsOf(summary), ...(node === undefined ? [] : [partsOf(node)])]
  const most = Math.max(...sides.flat())
  const width = (edges_us.length + 1) * (barWidth + gap)
  const medianUs = node?.p50_interarrival_us ?? null
  const labels = [
    ...edges_us.map((us) => `≤ ${edgeText(us)}`),
    `> ${edgeText(edges_us.at(-1) ?? 0)}`,
  ]
  const said = labels.map(
    (label, index) => `${label} ms: ${grouped(countsOf(summary)[index] ?? 0)}`,
  )
  return (
    <figure className="stack-tight">
      <svg
        className="histogram"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Spacings by length: ${said.join(', ')}`}
      >
        {labels.map((label, index) => (
          <g key={label} transform={`translate(${index * (barWidth + gap)} 0)`}>
            {sides.map((side, which) => {
              const tall = (height - foot - 4) * ((side[index] ?? 0) / (most || 1))
              const wide = barWidth / sides.length
              return (
                <rect
                  // biome-ignore lint/suspicious/noArrayIndexKey: the player, then the node.
                  key={which}
                  data-side={which === 0 ? 'player' : 'node'}
                  x={which * wide}
                  y={height - foot - tall}
                  width={wide}
                  height={tall}
                />
              )
            })}
            <text x={barWidth / 2} y={height - foot + 12} textAnchor="middle">
              {label}
            </text>
          </g>
        ))}
        <text x={width / 2} y={height - 3} textAnchor="middle">
          ms
        </text>
        {medianUs !== null && <MedianLine us={medianUs} edges={edges_us} />}
      </svg>
      <figcaption className="small muted">
        <span className="swatch">the player </span>{' '}
        {node !== undefined && <span className="swatch swatch-2">the node </span>}
        {medianUs !== null && `broken line: the median at the node, ${spacingText(medianUs)}`}
      </figcaption>
    </figure>
  )
}

/** Where the median is within its bucket, of which edges only the ends are to scale. */
function MedianLine({ us, edges }: { us: number; edges: readonly number[] }) {
  const found = edges.findIndex((edge) => us <= edge)
  const bucket = found < 0 ? edges.length : found
  const low = edges[bucket - 1] ?? 0
  const high = edges[bucket] ?? Math.max(us, 2 * low)
  const part = (us - low) / (high - low || 1)
  const x = bucket * (barWidth + gap) + part * barWidth
  return <line className="period" x1={x} x2={x} y1={0} y2={height - foot} />
}

function countsOf({ histogram: { counts, overflow_count } }: LagSummary): number[] {
  return [...counts, overflow_count]
}

/** Of all spacings: the two sides have not counted equally many. */
function partsOf(summary: LagSummary): number[] {
  const counts = countsOf(summary)
  const all = counts.reduce((sum, count) => sum + count, 0)
  return counts.map((count) => count / (all || 1))
}

function edgeText(us: number): string {
  return String(Math.round(us / 1000))
}
