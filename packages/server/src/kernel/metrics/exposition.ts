import type { Histogram } from './histogram.ts'
import type { Labels, MetricFamily, Sample } from './metric-family.ts'

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * The Prometheus text format: HELP and TYPE of every family, also of those without samples, and
 * one line for each value.
 *
 * @param prefix stands before every name, e.g. `guildhall_`
 */
export function renderMetrics(families: Iterable<MetricFamily>, prefix: string): string {
  const lines: string[] = []
  for (const family of families) {
    const name = prefix + family.name
    lines.push(`# HELP ${name} ${family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`)
    lines.push(`# TYPE ${name} ${family.type}`)
    lines.push(...linesOf(name, family))
  }
  lines.push('')
  return lines.join('\n')
}

function* linesOf(name: string, family: MetricFamily): Generator<string> {
  switch (family.type) {
    case 'histogram':
      for (const sample of family.samples()) yield* histogramLines(name, sample)
      break
    case 'summary':
      for (const { labels, value } of family.samples()) {
        yield `${name}_sum${labelText(labels)} ${numberText(value.sum)}`
        yield `${name}_count${labelText(labels)} ${numberText(value.count)}`
      }
      break
    default:
      for (const { labels, value } of family.samples()) {
        yield `${name}${labelText(labels)} ${numberText(value)}`
      }
  }
}

function* histogramLines(name: string, { labels, value }: Sample<Histogram>): Generator<string> {
  let total = 0
  for (const { bound, count } of value.cumulative()) {
    yield `${name}_bucket${labelText({ ...labels, le: numberText(bound) })} ${count}`
    total = count
  }
  yield `${name}_sum${labelText(labels)} ${numberText(value.sum)}`
  yield `${name}_count${labelText(labels)} ${total}`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  if (value === Number.NEGATIVE_INFINITY) return '-Inf'
  return String(value)
}
