import { expect, it } from 'vitest'
import { holds, type Row } from './benchmark.ts'
import { table } from './report.ts'

const unit = 'ms'
const slow: Row = {
  what: 'start',
  product: { value: 701, unit },
  bound: { of: 'value', is: 'at most', limit: 700 },
}
const twice: Row = {
  what: 'reads',
  product: { value: 24_000.4, unit: 'reads/s' },
  baseline: { name: 'bare', value: 12_000.2, unit: 'reads/s' },
  ratio: 2,
  bound: { of: 'ratio', is: 'at least', limit: 2 },
}

it('judges a value or a ratio by its bound, which itself still holds', () => {
  expect(holds(slow)).toBe(false)
  expect(holds({ ...slow, product: { value: 700, unit } })).toBe(true)
  expect(holds(twice)).toBe(true)
  expect(holds({ ...twice, ratio: 1.99 })).toBe(false)
  expect(holds({ what: 'unjudged', product: { value: 1, unit } })).toBeUndefined()
})

it('fails a bound on a ratio that was not measured', () => {
  const { ratio: _, ...unmeasured } = twice
  expect(holds(unmeasured)).toBe(false)
})

it('prints each row with its figures, its bound and the verdict', () => {
  const [, , first, second] = table([slow, twice]).split('\n')
  expect(first?.split('|').map((cell) => cell.trim())).toEqual([
    ...['', 'start', '701 ms', '', '', '<= 700 ms', 'FAIL', '', ''],
  ])
  expect(second?.split('|').map((cell) => cell.trim())).toEqual([
    ...[
      '',
      'reads',
      '24,000 reads/s',
      '12,000 reads/s (bare)',
      '2.00',
      'ratio >= 2',
      'pass',
      '',
      '',
    ],
  ])
})
