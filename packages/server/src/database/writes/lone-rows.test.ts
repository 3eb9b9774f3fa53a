import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { testBackends } from '../testing/backends.ts'
import { openWithTables } from '../testing/contract-database.ts'
import { insertValues, valueById } from '../testing/contract-statements.ts'

describe.each(testBackends)('a batch of one row on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await openWithTables(open)
    db = test.db
    return () => test.dispose()
  })

  const data = Uint8Array.of(0, 92, 39, 255)
  const whole = { id: 'whole', big: -(2n ** 63n), count: -7, note: 'é\'"\\{}', data }
  const empty = { id: 'empty', big: 0n, count: null, note: null, data: null }
  const named = (value: typeof whole | typeof empty, id: string) => ({ ...value, id })

  it('keeps what one of many keeps, alone and in a transaction', async () => {
    for (const value of [whole, empty]) {
      const { id } = value
      expect(await db.each(insertValues, [value])).toEqual([{ id }])
      await db.transaction((tx) => tx.each(insertValues, [named(value, `${id}-tx`)]))
      expect(await db.all(insertValues, named(value, `${id}-all`))).toEqual([{ id: `${id}-all` }])
      expect(await db.run(insertValues, named(value, `${id}-run`))).toBe(1)
    }
    await db.each(insertValues, [named(whole, 'whole-twin'), named(empty, 'empty-twin')])
    for (const value of [whole, empty]) {
      for (const suffix of ['', '-tx', '-all', '-run', '-twin']) {
        const id = value.id + suffix
        expect(await db.get(valueById, { id })).toEqual(named(value, id))
      }
    }
  })
})
