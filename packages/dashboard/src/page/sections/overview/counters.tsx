import { useEffect, useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { type Past, useHistoryRange, usePast } from '../../data/history.ts'
import { type NodeStatus, useNodeStatus } from '../../data/node-status.ts'
import { pace } from '../../data/pace.ts'
import { type Line, type Sample, valuesOf, withSample } from '../../data/samples.ts'
import { Card } from '../../kit/page.tsx'
import { Plot } from '../../kit/plot.tsx'
import { RangeBar } from '../../kit/range-bar.tsx'
import { Skeleton } from '../../kit/states.tsx'

type Drawn = { title: string; unit: string; lines: readonly Line[] }

const plots: readonly Drawn[] = [
  { title: 'Requests', unit: '/s', lines: [{ label: 'requests', rate: 'http_requests_total' }] },
  {
    title: 'Answer time',
    unit: ' ms',
    lines: [
      {
        label: 'node',
        rate: 'http_request_microseconds_total',
        per: 'http_requests_total',
        scale: 0.001,
      },
      { label: 'here', value: 'round_trip_ms' },
    ],
  },
  {
    title: 'Connections',
    unit: '',
    lines: [
      { label: 'open', value: 'connections_active' },
      { label: 'sessions', value: 'sessions_active' },
    ],
  },
  { title: 'Rooms', unit: '', lines: [{ label: 'rooms', value: 'rooms_active' }] },
  {
    title: 'Messages',
    unit: '/s',
    lines: [
      { label: 'in', rate: 'messages_in_total' },
      { label: 'out', rate: 'messages_out_total' },
    ],
  },
  {
    title: 'Script calls',
    unit: '/s',
    lines: [
      { label: 'all', rate: 'script_calls_total' },
      { label: 'failed', rate: 'script_call_errors_total' },
    ],
  },
  {
    title: 'Sign-ins',
    unit: '/s',
    lines: [
      { label: 'done', rate: 'auth_success_total' },
      { label: 'refused', rate: 'auth_failure_total' },
    ],
  },
  {
    title: 'Trouble',
    unit: '/s',
    lines: [
      { label: 'limits', rate: 'admission_refused_total' },
      { label: 'database', rate: 'database_errors_total' },
    ],
  },
]

let samples: readonly Sample[] = []

/** The readings since the page was opened: they stay while other views are looked at. */
function useSamples(): readonly Sample[] {
  const { data } = useNodeStatus(pace.plots)
  const [shown, setShown] = useState(samples)
  useEffect(() => {
    if (data === undefined) return
    samples = withSample(samples, sampleOf(data))
    setShown(samples)
  }, [data])
  return shown
}

function sampleOf({ status, at, roundTripMs }: NodeStatus): Sample {
  return { atSec: at / 1000, metrics: { ...status.metrics, round_trip_ms: roundTripMs } }
}

export function Counters() {
  const [range] = useHistoryRange()
  const past = usePast(range, useSamples())
  if (past.samples.length === 0) return <Skeleton />
  return (
    <>
      <RangeBar marks={past.marks} />
      <div className="cards">
        {plots.map((drawn) => (
          <Counter key={drawn.title} {...drawn} past={past} />
        ))}
      </div>
    </>
  )
}

function Counter({ title, unit, lines, past }: Drawn & { past: Past }) {
  const { samples } = past
  const series = lines.map((line) => ({ name: line.label, values: valuesOf(samples, line) }))
  return (
    <Card
      title={title}
      extra={series.map(({ name, values }, index) => (
        <span key={name} className="small legend">
          {series.length > 1 && <span className={`swatch swatch-${index + 1}`}>{name} </span>}
          <strong className="plot-now">{now(values.at(-1) ?? null, unit)}</strong>
        </span>
      ))}
    >
      <Plot label={title} past={past} series={series} />
    </Card>
  )
}

function now(value: number | null, unit: string): string {
  return value === null ? '–' : `${short(value)}${unit}`
}

function short(value: number): string {
  return value >= 100 || Number.isInteger(value) ? grouped(Math.round(value)) : value.toFixed(1)
}

/** Every counter of the node by its name, for those who know what they look for. */
export function AllCounters() {
  const metrics = useNodeStatus().data?.status.metrics ?? {}
  const names = Object.keys(metrics).toSorted()
  return (
    <details className="card">
      <summary className="card-head">All counters of this node ({names.length})</summary>
      <div className="card-body">
        <dl className="facts">
          {names.map((name) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt className="mono small">{name}</dt>
              <dd className="mono small">{grouped(metrics[name] ?? 0)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </details>
  )
}
