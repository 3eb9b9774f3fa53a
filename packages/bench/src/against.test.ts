import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { besideOther } from './against.ts'
import type { Bench, Row } from './benchmark.ts'

const folder = mkdtempSync(join(tmpdir(), 'guildhall-against-'))
afterAll(() => rmSync(folder, { recursive: true }))

const bench: Bench = {
  cores: undefined,
  folder,
  checkout: 'ours',
  against: 'theirs',
  seconds: (wanted) => wanted,
  count: (wanted) => wanted,
}

it('runs a benchmark for both checkouts in turn, and compares each figure', async () => {
  const played: string[] = []
  const figures: Record<string, number[]> = {
    ours: [90, 110, 100, 300, 95],
    theirs: [100, 100, 100, 100, 100],
  }
  const folders = new Set<string>()
  const run = async ({ checkout, folder: own, seconds }: Bench): Promise<Row[]> => {
    played.push(checkout)
    folders.add(own)
    expect(seconds(10)).toBe(4)
    const bound = { of: 'value', is: 'at least', limit: 1000 } as const
    const value = figures[checkout]?.shift() ?? 0
    const only = { what: `only of ${checkout}`, product: { value: 1, unit: 's' } }
    return [only, { what: 'both', product: { value, unit: '/s' }, bound }]
  }
  const rows = await besideOther({ name: 'any', run }, bench, 'theirs')
  expect(played.join(' ')).toBe('theirs ours ours theirs theirs ours ours theirs theirs ours')
  expect(folders.size).toBe(10)
  expect(rows).toEqual([
    {
      what: 'both',
      product: { value: 100, unit: '/s' },
      baseline: { name: 'the other checkout', value: 100, unit: '/s' },
      ratio: 1,
      notes: 'ratios 0.90, 1.10, 1.00, 3.00, 0.95',
    },
  ])
})
