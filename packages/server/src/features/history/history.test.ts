import { api } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario } from '../../testing/scenario.ts'
import { historyFeature } from './history.feature.ts'
import { createSamples } from './samples.ts'

it.each(testBackends)(
  '[H-OPS-3] is asked for by a range that is known, and has marks and series on $name',
  async (backend) => {
    const scenario = await openScenario(backend)
    try {
      const operator = await openOperator(scenario.api)
      const ask = (query: string) => operator.send('GET', `/history${query}`)
      for (const query of ['', '?range=', '?range=2h', '?range=5M', '?range=5m&range=1h']) {
        expect([query, (await ask(query)).status]).toEqual([query, 400])
      }
      const nowUnixMs = scenario.clock.nowUnixMs()
      for (const [range, step_ms, backMs] of [
        ['5m', 10_000, 300_000],
        ['1h', 10_000, 3_600_000],
        ['24h', 60_000, 86_400_000],
      ] as const) {
        const { body } = await ask(`?range=${range}`)
        const history = api.history.get.ok.parse(body)
        expect(history).toMatchObject({ step_ms, from_unix_ms: nowUnixMs - backMs })
        expect(history.marks.some(({ kind }) => kind === 'start')).toBe(true)
      }
    } finally {
      await scenario.dispose()
    }
  },
)

it('[H-OPS-3] a step has its last value, what is not known is null, and the end is the present', () => {
  const samples = createSamples()
  const start = 7_000_000
  for (let atMs = start; atMs <= start + 50_000; atMs += 5_000) {
    samples.record(atMs, { requests: atMs, ...(atMs > start + 30_000 && { late: 1 }) })
  }
  const { stepMs, series } = samples.read('5m', start + 50_000)
  expect(stepMs).toBe(10_000)
  expect(series.requests).toHaveLength(30)
  const known = [5, 15, 25, 35, 45].map((sec) => start + sec * 1000)
  expect(series.requests).toEqual([...Array(24).fill(null), ...known, start + 50_000])
  expect(series.late).toEqual([...Array(27).fill(null), 1, 1, 1])
  // A step that has just begun is not a hole at the end; a node that slept has one.
  expect(samples.read('5m', start + 61_000).series.requests?.at(-1)).toBe(start + 50_000)
  expect(samples.read('5m', start + 91_000).series.requests?.slice(-5)).toEqual([
    start + 50_000,
    ...Array(4).fill(null),
  ])
})

it('[H-OPS-3] what a ring held before comes back in no later turn of it', () => {
  const samples = createSamples()
  for (let atMs = 0; atMs < 3_600_000; atMs += 10_000) samples.record(atMs, { n: 1 })
  const afterPauseMs = 3_600_000 + 1_800_000
  samples.record(afterPauseMs, { n: 2 })
  const hour = samples.read('1h', afterPauseMs).series.n ?? []
  expect(hour.filter((value) => value === 1)).toHaveLength(179)
  expect(hour.filter((value) => value === null)).toHaveLength(180)
  expect(hour.at(-1)).toBe(2)
  const day = samples.read('24h', afterPauseMs).series.n ?? []
  expect(day.filter((value) => value !== null)).toHaveLength(61)
  samples.record(afterPauseMs + 30 * 86_400_000, { n: 3 })
  const later = samples.read('24h', afterPauseMs + 30 * 86_400_000).series.n ?? []
  expect(later).toEqual([...Array(1439).fill(null), 3])
})

it('[H-OPS-3] keeps at most 4 MiB, whatever the number of names', () => {
  const samples = createSamples()
  const many = Array.from({ length: 1000 }, (_, index) => [`counter_${index}`, index] as const)
  samples.record(0, Object.fromEntries(many))
  const { series } = samples.read('24h', 0)
  const bytes = Object.keys(series).length * (360 + 1440) * 8
  expect(bytes).toBeGreaterThan(3 * 1024 * 1024)
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024)
})

it('[H-OPS-3] marks starts, revisions and migrations within the range, by time', async () => {
  const [, sqlite] = testBackends
  if (sqlite === undefined) throw new Error('there is no such backend')
  const scenario = await openScenario(sqlite)
  try {
    const { db, clock } = scenario
    await clock.advance(1_800_000)
    const at_unix_ms = clock.nowUnixMs() - 600_000
    const reload = { generation: 2, files: [], duration_ms: 5, problem: null, at_unix_ms }
    const history = historyFeature({
      ...{ db, clock, version: '1.2.3' },
      host: () => ({ cpu_usage_percent: 7 }),
      reloads: () => [
        { ...reload, outcome: 'rejected', reason: 'reload', revision_id: null },
        { ...reload, outcome: 'active', reason: 'reload', revision_id: 'rv-1' },
      ],
    })
    history.record({ requests: 3 })
    const marksOf = async (range: string) => {
      const answer = await history.routes?.history?.[0]?.handle({ query: { range } } as never)
      const { marks, series } = api.history.get.ok.parse(answer)
      expect(series.cpu_percent?.at(-1)).toBe(7)
      return marks.filter(({ kind }) => kind !== 'migration').map(({ text }) => text)
    }
    const started = 'the node started, version 1.2.3'
    expect(await marksOf('5m')).toEqual([started])
    expect(await marksOf('1h')).toEqual(['revision rv-1 by reload', started])
  } finally {
    await scenario.dispose()
  }
})
