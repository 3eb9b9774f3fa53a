import { expect, it } from 'vitest'
import { merged, type Sample, samplesOf, valuesOf } from './samples.ts'

const atSec = (samples: readonly Sample[]) => samples.map((sample) => sample.atSec)
const sample = (atSec: number): Sample => ({ atSec, metrics: { requests: atSec } })

it('[H-OPS-3] samples of the node are of the end of their step, and unknown steps are none', () => {
  const series = { requests: [null, 4, 14, null], cpu_percent: [null, null, 50, null] }
  const samples = samplesOf({ from_unix_ms: 100_000, step_ms: 10_000, series })
  expect(samples).toEqual([
    { atSec: 120, metrics: { requests: 4 } },
    { atSec: 130, metrics: { requests: 14, cpu_percent: 50 } },
  ])
  expect(valuesOf(samples, { label: 'requests', rate: 'requests' })).toEqual([null, 1])
  expect(samplesOf({ from_unix_ms: 0, step_ms: 10_000, series: {} })).toEqual([])
})

it('[H-OPS-3] a page that has just come has the past of the node and its own reading', () => {
  const kept = [110, 120, 130].map(sample)
  expect(atSec(merged(kept, [sample(141)], 10))).toEqual([110, 120, 130, 141])
  expect(atSec(merged(kept, [], 10))).toEqual([110, 120, 130])
  expect(atSec(merged([], [sample(141)], 0))).toEqual([141])
})

it("[H-OPS-3] the page's own readings stand in place of the node's, where it has some", () => {
  const kept = [110, 120, 130, 140].map(sample)
  const live = [122, 124, 126, 128, 130].map(sample)
  expect(atSec(merged(kept, live, 10))).toEqual([110, 122, 124, 126, 128, 130, 140])
})

it('[H-OPS-3] among steps of a minute only the newest reading of the page stands', () => {
  const kept = [60, 120, 180].map(sample)
  const live = [170, 190, 210, 250].map(sample)
  expect(atSec(merged(kept, live, 60))).toEqual([60, 120, 180, 250])
})
