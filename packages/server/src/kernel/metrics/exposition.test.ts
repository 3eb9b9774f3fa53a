import parse from 'parse-prometheus-text-format'
import { describe, expect, it } from 'vitest'
import { renderMetrics } from './exposition.ts'
import {
  counterFamily,
  histogramFamily,
  type MetricFamily,
  summaryFamily,
} from './metric-family.ts'

describe('the text format', () => {
  it('[H-MET-3] has HELP and TYPE of families without samples', () => {
    const { family } = counterFamily({ name: 'calls_total', help: 'Calls.' }, ['hook'])
    expect(renderMetrics([family], 'guildhall_')).toBe(
      '# HELP guildhall_calls_total Calls.\n# TYPE guildhall_calls_total counter\n',
    )
  })

  it('[H-MET-3] is read back by a parser, label values with every character', () => {
    const strange = 'a"b\\c\nd{e}, f=ü'
    const calls = counterFamily({ name: 'calls_total', help: 'Calls\nof \\ hooks.' }, ['hook'])
    calls.add(2, strange)
    calls.add(1, strange)
    const depth: MetricFamily = {
      name: 'depth',
      help: 'Depth.',
      labels: [],
      type: 'gauge',
      samples: () => [{ labels: {}, value: 0.25 }],
    }
    const [counter, gauge] = parse(renderMetrics([calls.family, depth], 'g_'))
    expect(counter).toMatchObject({ name: 'g_calls_total', type: 'COUNTER' })
    expect(counter?.metrics).toEqual([{ labels: { hook: strange }, value: '3' }])
    expect(gauge).toMatchObject({ type: 'GAUGE', metrics: [{ value: '0.25' }] })
  })

  it('[H-MET-3] counts a value that equals a bound in its bucket, and all in the last', () => {
    const seconds = histogramFamily({ name: 'seconds', help: 'S.' }, [0.1, 1])
    for (const value of [0.05, 0.1, 0.5, 7]) seconds.observe(value)
    const [family] = parse(renderMetrics([seconds.family], ''))
    expect(family?.metrics).toEqual([
      { buckets: { '0.1': '2', '1': '3', '+Inf': '4' }, count: '4', sum: '7.65' },
    ])
  })

  it('[H-MET-3] has the buckets of each combination of labels', () => {
    const seconds = histogramFamily({ name: 'seconds', help: 'S.' }, [1], ['method', 'route'])
    seconds.observe(0.5, 'GET', '/a')
    seconds.observe(2, 'GET', '/b')
    expect(renderMetrics([seconds.family], '').split('\n').slice(2)).toEqual([
      'seconds_bucket{method="GET",route="/a",le="1"} 1',
      'seconds_bucket{method="GET",route="/a",le="+Inf"} 1',
      'seconds_sum{method="GET",route="/a"} 0.5',
      'seconds_count{method="GET",route="/a"} 1',
      'seconds_bucket{method="GET",route="/b",le="1"} 0',
      'seconds_bucket{method="GET",route="/b",le="+Inf"} 1',
      'seconds_sum{method="GET",route="/b"} 2',
      'seconds_count{method="GET",route="/b"} 1',
      '',
    ])
  })

  it('[H-MET-3] has a histogram without labels from the start', () => {
    const { family } = histogramFamily({ name: 'lag', help: 'Lag.' }, [1])
    expect(renderMetrics([family], '')).toContain('lag_bucket{le="+Inf"} 0\nlag_sum 0\nlag_count 0')
  })

  it('[H-MET-3] has summaries of number and sum', () => {
    const queries = summaryFamily({ name: 'queries', help: 'Q.' }, ['statement'])
    queries.observe(0.5, 'accounts.find')
    queries.observe(0.25, 'accounts.find')
    expect(renderMetrics([queries.family], '')).toContain(
      'queries_sum{statement="accounts.find"} 0.75\nqueries_count{statement="accounts.find"} 2\n',
    )
  })
})
