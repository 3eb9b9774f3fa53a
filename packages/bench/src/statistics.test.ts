import fc from 'fast-check'
import { expect, it } from 'vitest'
import { median, percentile } from './statistics.ts'

it('takes percentiles by nearest rank', () => {
  const values = [50, 15, 40, 20, 35]
  expect([0.05, 0.3, 0.4, 0.5, 1].map((share) => percentile(values, share))).toEqual([
    15, 20, 20, 35, 50,
  ])
  expect(percentile([7], 0.99)).toBe(7)
})

it('answers a value that enough values do not exceed, and no smaller one', () => {
  const samples = fc.array(fc.double({ noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(samples, fc.integer({ min: 1, max: 100 }), (values, percent) => {
      const answer = percentile(values, percent / 100)
      const within = (limit: number) => values.filter((value) => value <= limit).length
      expect(values).toContain(answer)
      expect(within(answer) * 100).toBeGreaterThanOrEqual(percent * values.length)
      const smaller = values.filter((value) => value < answer)
      expect(smaller.length * 100).toBeLessThan(percent * values.length)
    }),
  )
})

it('takes the middle, or the mean of the middle two', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([])).toBeNaN()
})
