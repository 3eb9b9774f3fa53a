import { type TournamentState, tournamentStates } from '@guildhall/contract'

type Box = { x: number; y: number; width: number }

const height = 30
const places: Readonly<Record<TournamentState, Box>> = {
  draft: { x: 4, y: 8, width: 50 },
  registration_open: { x: 78, y: 8, width: 114 },
  running: { x: 216, y: 8, width: 64 },
  finalizing: { x: 304, y: 8, width: 76 },
  completed: { x: 404, y: 8, width: 82 },
  cancelled: { x: 96, y: 70, width: 78 },
}

/** `by` says who moves a tournament along the edge. */
const edges: readonly { from: TournamentState; to: TournamentState; by: 'operator' | 'node' }[] = [
  { from: 'draft', to: 'registration_open', by: 'operator' },
  { from: 'registration_open', to: 'running', by: 'operator' },
  { from: 'running', to: 'finalizing', by: 'node' },
  { from: 'finalizing', to: 'completed', by: 'node' },
  { from: 'draft', to: 'cancelled', by: 'operator' },
  { from: 'registration_open', to: 'cancelled', by: 'operator' },
  { from: 'running', to: 'cancelled', by: 'operator' },
]

/** All states and edges of a tournament, with the one that it is in. */
export function StateDiagram({ state }: { state: TournamentState }) {
  const words = state.replaceAll('_', ' ')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is narrow it scrolls by keys.
    <figure className="edges" tabIndex={0}>
      <svg viewBox="0 0 490 106" role="img" aria-label={`The tournament is ${words}`}>
        <defs>
          <marker
            id="tip"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" className="edge-tip" />
          </marker>
        </defs>
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.to}`}
            d={pathOf(places[edge.from], places[edge.to])}
            className="edge"
            data-by={edge.by}
            markerEnd="url(#tip)"
          />
        ))}
        {tournamentStates.map((name) => (
          <g key={name} className="place" data-current={name === state}>
            <rect {...places[name]} height={height} rx={6} />
            <text x={places[name].x + places[name].width / 2} y={places[name].y + 19}>
              {name.replaceAll('_', ' ')}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className="small muted">
        Full lines: operators. Broken lines: the node itself, at the reset of the board or the end.
      </figcaption>
    </figure>
  )
}

function pathOf(from: Box, to: Box): string {
  if (from.y === to.y) {
    const y = from.y + height / 2
    return `M${from.x + from.width} ${y}H${to.x - 1}`
  }
  const startX = from.x + from.width / 2
  const start = `M${startX} ${from.y + height}`
  const endY = to.y + height / 2
  if (startX < to.x) return `${start}V${endY}H${to.x - 1}`
  if (startX > to.x + to.width) return `${start}V${endY}H${to.x + to.width + 1}`
  return `${start}V${to.y - 1}`
}
