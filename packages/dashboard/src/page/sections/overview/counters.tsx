import { useEffect, useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { type NodeStatus, useNodeStatus } from '../../data/node-status.ts'
import { Card } from '../../kit/page.tsx'
import { Plot } from '../../kit/plot.tsx'
import { Skeleton } from '../../kit/states.tsx'

/** So often the counters are read, in milliseconds, and so many readings are shown. */
const everyMs = 2_000
const samplesMax = 150

type Sample = { atSec: number; metrics: Readonly<Record<string, number>> }

/** What is drawn: counters that only grow are shown by their rate. */
const plots: readonly { title: string; names: readonly string[]; unit: string }[] = [
  { title: 'Requests', names: ['http_requests_total'], unit: '/s' },
  { title: 'Requests in flight', names: ['http_requests_in_flight'], unit: '' },
  { title: 'Connections', names: ['connections_active', 'sessions_active'], unit: '' },
  { title: 'Rooms', names: ['rooms_active'], unit: '' },
  { title: 'Messages', names: ['messages_in_total', 'messages_out_total'], unit: '/s' },
  { title: 'Sign-ins', names: ['auth_success_total', 'auth_failure_total'], unit: '/s' },
  { title: 'Script calls', names: ['script_calls_total', 'script_call_errors_total'], unit: '/s' },
  {
    title: 'Refusals',
    names: ['admission_refused_total', 'database_errors_total'],
    unit: '/s',
  },
]

let samples: readonly Sample[] = []

/** The readings since the page was opened: they stay while other views are looked at. */
function useSamples(): readonly Sample[] {
  const { data } = useNodeStatus(everyMs)
  const [shown, setShown] = useState(samples)
  useEffect(() => {
    if (data === undefined) return
    samples = withSample(samples, data)
    setShown(samples)
  }, [data])
  return shown
}

function withSample(before: readonly Sample[], { status, at }: NodeStatus): readonly Sample[] {
  const sample = { atSec: at / 1000, metrics: status.metrics }
  const last = before.at(-1)
  if (last !== undefined && last.atSec >= sample.atSec) return before
  return [...before, sample].slice(-samplesMax)
}

export function Counters() {
  const shown = useSamples()
  const latest = shown.at(-1)
  if (latest === undefined) return <Skeleton />
  return (
    <>
      <div className="cards">
        {plots.map(({ title, names, unit }) => {
          const known = names.filter((name) => latest.metrics[name] !== undefined)
          if (known.length === 0) return null
          return <Counter key={title} title={title} names={known} unit={unit} samples={shown} />
        })}
      </div>
      <AllCounters metrics={latest.metrics} />
    </>
  )
}

type CounterProps = {
  title: string
  names: readonly string[]
  unit: string
  samples: readonly Sample[]
}

function Counter({ title, names, unit, samples }: CounterProps) {
  const origin = performance.now() / 1000
  const times = samples.map(({ atSec }) => atSec - origin)
  const series = names.map((name) => ({ name: wordsOf(name), values: valuesOf(samples, name) }))
  return (
    <Card
      title={title}
      extra={
        <span className="row">
          {series.map(({ name, values }, index) => (
            <span key={name} className="small">
              {series.length > 1 && <span className={`swatch swatch-${index + 1}`}>{name} </span>}
              <strong className="plot-now">{now(values.at(-1) ?? null, unit)}</strong>
            </span>
          ))}
        </span>
      }
    >
      <Plot label={title} times={times} series={series} />
    </Card>
  )
}

function now(value: number | null, unit: string): string {
  return value === null ? '–' : `${short(value)}${unit}`
}

function valuesOf(samples: readonly Sample[], name: string): (number | null)[] {
  const isTotal = name.endsWith('_total')
  return samples.map(({ atSec, metrics }, index) => {
    const value = metrics[name] ?? null
    if (!isTotal || value === null) return value
    const before = samples[index - 1]
    const was = before?.metrics[name]
    // A smaller number is that of a node that was started anew.
    if (before === undefined || was === undefined || was > value) return null
    return (value - was) / (atSec - before.atSec)
  })
}

function wordsOf(name: string): string {
  return name.replace(/_total$/, '').replaceAll('_', ' ')
}

function short(value: number): string {
  return value >= 100 || Number.isInteger(value) ? grouped(Math.round(value)) : value.toFixed(1)
}

function AllCounters({ metrics }: { metrics: Readonly<Record<string, number>> }) {
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
