import { beforeAll, describe, expect, it } from 'vitest'
import { type Transaction, UniqueViolation } from '../database.ts'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { testBackends } from '../testing/backends.ts'
import { openWithTables } from '../testing/contract-database.ts'
import { counterById, insertCounter, insertCounters } from '../testing/contract-statements.ts'

describe.each(testBackends)('what runs at the commit on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await openWithTables(open)
    db = test.db
    return () => test.dispose()
  })

  const leave = (tx: Transaction, ...ids: string[]) => {
    tx.atCommit(
      insertCounters,
      ids.map((id) => ({ id, total: 1n })),
    )
  }

  // More often than a connection needs to know the statements.
  it.each([1, 2, 3, 4])('comes behind everything else, and is kept with it (%i)', async (n) => {
    const id = `last-${n}`
    const seen = await db.transaction(async (tx) => {
      leave(tx, id)
      leave(tx, `${id}-a`, `${id}-b`)
      leave(tx)
      const before = await tx.get(counterById, { id })
      await tx.run(insertCounter, { id: `${id}-body`, total: 2n })
      return before
    })
    expect(seen).toBeUndefined()
    for (const each of [id, `${id}-a`, `${id}-b`, `${id}-body`]) {
      expect(await db.get(counterById, { id: each })).toMatchObject({ id: each })
    }
  })

  it.each([1, 2, 3, 4])('takes the transaction with it when it fails (%i)', async (n) => {
    const id = `last-failed-${n}`
    const failing = db.transaction(async (tx) => {
      await tx.run(insertCounter, { id, total: 1n })
      leave(tx, `${id}-first`)
      leave(tx, id)
      leave(tx, `${id}-last`)
    })
    await expect(failing).rejects.toBeInstanceOf(UniqueViolation)
    for (const each of [id, `${id}-first`, `${id}-last`]) {
      expect(await db.get(counterById, { id: each })).toBeUndefined()
    }
    // The connection is as good as before.
    await db.transaction(async (tx) => leave(tx, id))
    expect(await db.get(counterById, { id })).toEqual({ id, total: 1n })
  })

  it('does not come when the body throws, or goes on after a statement failed', async () => {
    const throwing = db.transaction(async (tx) => {
      leave(tx, 'last-never')
      throw new Error('changed my mind')
    })
    await expect(throwing).rejects.toThrow('changed my mind')
    await db.run(insertCounter, { id: 'last-taken', total: 1n })
    const stubborn = db.transaction(async (tx) => {
      leave(tx, 'last-never')
      await tx.run(insertCounter, { id: 'last-taken', total: 1n }).catch(() => {})
    })
    await expect(stubborn).rejects.toThrow()
    expect(await db.get(counterById, { id: 'last-never' })).toBeUndefined()
  })

  it('refuses rows of other types than declared', async () => {
    const wrong = { id: 'last-wrong', total: 1 as unknown as bigint }
    const refused = db.transaction(async (tx) => {
      await tx.run(insertCounter, { id: 'last-wrong-body', total: 1n })
      tx.atCommit(insertCounters, [wrong])
    })
    await expect(refused).rejects.toBeInstanceOf(TypeError)
    expect(await db.get(counterById, { id: 'last-wrong-body' })).toBeUndefined()
  })

  it('is refused once the body has ended', async () => {
    let kept: Transaction | undefined
    await db.transaction(async (tx) => {
      kept = tx
    })
    expect(() => kept && leave(kept, 'last-late')).toThrow('this transaction has ended')
  })
})
