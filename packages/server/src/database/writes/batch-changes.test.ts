import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { testBackends } from '../testing/backends.ts'
import { openWithTables } from '../testing/contract-database.ts'
import {
  countersBetween,
  countInCounters,
  insertCounters,
  removeCounters,
} from '../testing/contract-statements.ts'

describe.each(testBackends)('a batch on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await openWithTables(open)
    db = test.db
    return () => test.dispose()
  })

  it('removes the rows that are named, and no other', async () => {
    const rows = ['1', '2', '3'].map((end) => ({ id: `remove-${end}`, total: 7n }))
    await db.each(insertCounters, rows)
    const named = ['remove-3', 'remove-none', 'remove-1'].map((id) => ({ id }))
    const removed = await db.each(removeCounters, named)
    expect(removed.map(({ id }) => id).sort()).toEqual(['remove-1', 'remove-3'])
    expect(await db.each(removeCounters, [{ id: 'remove-2' }])).toEqual([rows[1]])
    expect(await db.all(countersBetween, { low: 'remove-', high: 'remove.' })).toEqual([])
  })

  it('makes what is not there and adds to what is', async () => {
    const [old, fresh] = ['count-old', 'count-fresh']
    expect(await db.each(countInCounters, [{ id: old, total: 5n }])).toEqual([
      { id: old, total: 5n },
    ])
    const rows = [
      { id: old, total: -2n },
      { id: fresh, total: 1n },
    ]
    const counted = await db.each(countInCounters, rows)
    expect(new Map(counted.map(({ id, total }) => [id, total]))).toEqual(
      new Map([
        [old, 3n],
        [fresh, 1n],
      ]),
    )
  })
})
