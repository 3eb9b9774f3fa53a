import { createHash, createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../../../database/migrations/schema-access.ts'
import { statement } from '../../../database/statement.ts'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../../kernel/clock.fake.ts'
import { atEndOfTurn } from '../../../kernel/clock.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { auditStore } from '../audit.store.ts'
import { chainOf } from './chain.fixture.ts'
import { chainStore } from './chain.store.ts'
import { canonicalJson } from './chain.ts'
import { sealerOn } from './sealer.fixture.ts'

const key = 'k'.repeat(32)
const hashOf = (seq: number) => `(SELECT hash FROM audit_entries WHERE seq = ${seq})`

describe.each(testBackends)('the audit chain on $name', ({ open }) => {
  let test: TestDatabase
  let db: OpenedDatabase
  let clock: FakeClock

  beforeEach(async () => {
    clock = createFakeClock()
    test = await open()
    db = test.db
  })
  afterEach(() => test.dispose())

  const { entry, write, verify, meddle, rows, linkAt, sealed } = chainOf(() => ({ db, clock }))

  it('[O-AUD-2] links every row to the one before, from 32 zero bytes on', async () => {
    await sealed(3)
    let before: Uint8Array = new Uint8Array(32)
    for (const { hash, ...row } of await rows()) {
      const sorted = Object.fromEntries(
        Object.keys(row)
          .sort()
          .map((name) => [name, Reflect.get(row, name)]),
      )
      const expected = createHash('sha256').update(before).update(JSON.stringify(sorted)).digest()
      expect(Buffer.from(hash ?? []).toString('hex')).toBe(expected.toString('hex'))
      before = expected
    }
    expect((await rows()).map(({ seq, keyed }) => [seq, keyed])).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ])
    expect(await verify()).toEqual({
      rows: 3,
      unchecked: 0,
      unkeyed: 3,
      anchor_seq: 0,
      head_seq: 3,
      head_hash: Buffer.from(before).toString('hex'),
    })
  })

  it('[O-AUD-5] makes the links HMACs when there is a key, and marks them', async () => {
    await sealed(1, { key })
    const [row] = await rows()
    if (row === undefined) throw new Error('nothing was sealed')
    const { hash, ...rest } = row
    expect(rest.keyed).toBe(1)
    const hmac = createHmac('sha256', key)
      .update(new Uint8Array(32))
      .update(canonicalJson({ ...rest }))
    expect(Buffer.from(hash ?? []).toString('hex')).toBe(hmac.digest('hex'))
  })

  it('[O-AUD-2] gives numbers without gaps over batches, restarts and nodes', async () => {
    const nodes = ['bt1-a', 'bt1-b'].map((holder) => sealerOn(db, clock, { holder, batchItems: 7 }))
    for (let round = 0; round < 4; round += 1) {
      await write(25)
      await Promise.all(nodes.map((node) => node.seal()))
    }
    // A node that starts later goes on where the others were, once their lease is over.
    await meddle('UPDATE leases SET expires_at_unix_ms = 0')
    await write(10)
    await sealerOn(db, clock, { holder: 'bt1-c' }).seal()
    await Promise.all(nodes.map((node) => node.seal()))
    expect((await rows()).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 110 }, (_, at) => at + 1),
    )
    expect(await verify()).toMatchObject({ rows: 110, head_seq: 110 })
    expect(await verify()).not.toHaveProperty('broken')
  })

  it('[O-AUD-2] seals while rows are being written, and makes none of them wait', async () => {
    const sealer = sealerOn(db, clock, { batchItems: 5 })
    const writers = Array.from({ length: 4 }, async () => {
      for (let turn = 0; turn < 15; turn += 1) {
        await db.transaction(async (tx) => void (await auditStore.insert(tx, [entry()])))
        await sealer.seal()
      }
    })
    await Promise.all(writers)
    await sealer.seal()
    expect(await chainStore.oldestUnsealed(db)).toBeUndefined()
    expect(await verify()).toMatchObject({ rows: 60, head_seq: 60 })
    expect(await verify()).not.toHaveProperty('broken')
    expect(db.stats().contention_total).toBe(0)
  })

  it('[O-AUD-2] [O-WB-2] links an entry once, however often a queue has written it', async () => {
    const [first, second, third] = [entry(), entry(), entry()]
    await auditStore.insert(db, [first, second])
    await auditStore.insert(db, [second, second])
    await sealerOn(db, clock, { batchItems: 2 }).seal()
    await auditStore.insert(db, [first, third, second])
    await auditStore.insert(db, [first])
    const listed = await auditStore.list(db, { limit: 10 })
    expect(listed).toEqual([third, second, first])
    await sealerOn(db, clock, { batchItems: 3 }).seal()
    expect(await chainStore.oldestUnsealed(db)).toBeUndefined()
    expect((await rows()).map(({ id, seq }) => [id, seq])).toEqual([
      [first.id, 1],
      [second.id, 2],
      [third.id, 3],
    ])
    expect(await verify()).toMatchObject({ rows: 3, head_seq: 3 })
    expect(await verify()).not.toHaveProperty('broken')
    expect(await auditStore.list(db, { limit: 10 })).toEqual(listed)
  })

  it('[H-AUD-7] shows every entry exactly once while the sealer moves them', async () => {
    const sealer = sealerOn(db, clock, { batchItems: 3 })
    await write(90)
    let isOver = false
    const sealing = sealer.seal().finally(() => {
      isOver = true
    })
    let looks = 0
    do {
      for (const action of [undefined, 'groups']) {
        const listed = await auditStore.list(db, { limit: 200, action })
        expect(listed.map(({ id }) => Number(id.slice(4)))).toEqual(
          Array.from({ length: 90 }, (_, at) => 90 - at),
        )
      }
      looks += 1
      await new Promise<void>((resolve) => atEndOfTurn(resolve))
    } while (!isOver)
    await sealing
    expect(await rows()).toHaveLength(90)
    expect(looks).toBeGreaterThan(0)
  })

  it.each([
    ['a changed field', "UPDATE audit_entries SET actor = 'nobody' WHERE seq = 4", 4],
    ['a field set to null', 'UPDATE audit_entries SET key_name = NULL WHERE seq = 5', 5],
    ['a changed time', 'UPDATE audit_entries SET time_unix_ms = time_unix_ms + 1 WHERE seq = 9', 9],
    ['a changed hash', `UPDATE audit_entries SET hash = ${hashOf(1)} WHERE seq = 2`, 2],
    ['a mark that is none', 'UPDATE audit_entries SET keyed = 2 WHERE seq = 6', 6],
    ['a deleted row', 'DELETE FROM audit_entries WHERE seq = 3', 3],
    ['the first row deleted', 'DELETE FROM audit_entries WHERE seq = 1', 1],
    ['the last rows deleted', 'DELETE FROM audit_entries WHERE seq > 7', 8],
    ['a row moved to the front', 'UPDATE audit_entries SET seq = 0 WHERE seq = 6', 0],
    ['a row moved to the end', 'UPDATE audit_entries SET seq = 11 WHERE seq = 10', 10],
    ['the chain continued by hand', 'UPDATE audit_chain_ends SET seq = 9', 10],
    ['a forgotten head', "DELETE FROM audit_chain_ends WHERE name = 'head'", 1],
    ['everything deleted', 'DELETE FROM audit_entries', 1],
  ])('[O-AUD-3] finds %s, with and without a key', async (_what, change, seq) => {
    await sealed(10)
    await meddle(change)
    expect((await verify()).broken?.seq).toBe(seq)
    expect((await verify({ key })).broken?.seq).toBe(seq)
  })

  it.each(['3 and 7', '9 and 10'])('[O-AUD-3] finds that rows %s are swapped', async (pair) => {
    await sealed(10)
    const [a, b] = pair.split(' and ').map(Number)
    await meddle(`UPDATE audit_entries SET seq = -1 WHERE seq = ${a}`)
    await meddle(`UPDATE audit_entries SET seq = ${a} WHERE seq = ${b}`)
    await meddle(`UPDATE audit_entries SET seq = ${b} WHERE seq = -1`)
    expect((await verify()).broken).toEqual({ seq: a, problem: 'is changed or out of place' })
  })

  it('[O-AUD-3] compares a link that was noted elsewhere', async () => {
    await sealed(10)
    const noted = await linkAt(8)
    expect(await verify({ expect: noted })).not.toHaveProperty('broken')
    const other = { seq: 8, hash: new Uint8Array(32) }
    expect((await verify({ expect: other })).broken).toEqual({
      seq: 8,
      problem: 'is not the expected link',
    })
    // Somebody cuts the tail off and covers it up.
    const cut = await linkAt(6)
    await meddle('DELETE FROM audit_entries WHERE seq > 6')
    await db.transaction((tx) => chainStore.moveEnd(tx, 'head', cut))
    expect(await verify()).not.toHaveProperty('broken')
    expect((await verify({ expect: noted })).broken).toEqual({ seq: 7, problem: 'is missing' })
    // Even when the log grows on, the link is another one.
    await sealed(5)
    expect(await verify()).not.toHaveProperty('broken')
    expect((await verify({ expect: noted })).broken?.problem).toBe('is not the expected link')
  })

  it('[O-AUD-3] takes no changed row for one that only the key can find', async () => {
    await sealed(6)
    await meddle("UPDATE audit_entries SET actor = 'nobody', keyed = 1 WHERE seq = 3")
    const head = await linkAt(6)
    expect((await verify({ expect: head })).broken?.seq).toBe(4)
    expect((await verify({ expect: head, key })).broken?.seq).toBe(3)
  })

  it('[O-AUD-4] stays verifiable while retention removes its beginning', async () => {
    const prune = async (count: number) => {
      const oldest = await chainStore.oldestSealed(db, count)
      const last = oldest.at(-1)
      if (last === undefined) throw new Error('nothing is left')
      await chainStore.moveEnd(db, 'anchor', last)
      await chainStore.removeUpTo(db, last.seq)
    }
    await sealed(10)
    const noted = await linkAt(4)
    await prune(4)
    expect(await verify()).toMatchObject({ rows: 6, anchor_seq: 4, head_seq: 10 })
    expect(await verify({ expect: noted })).not.toHaveProperty('broken')
    const forged = { seq: 4, hash: new Uint8Array(32) }
    expect((await verify({ expect: forged })).broken?.seq).toBe(4)
    await prune(6)
    expect(await verify()).toMatchObject({ rows: 0, anchor_seq: 10, head_seq: 10 })
    await sealed(2)
    expect(await verify()).toMatchObject({ rows: 2, anchor_seq: 10, head_seq: 12 })
    expect(await verify()).not.toHaveProperty('broken')
    expect((await verify({ expect: noted })).broken?.problem).toMatch('removed by retention')
    await meddle('DELETE FROM audit_entries WHERE seq = 11')
    expect((await verify()).broken).toEqual({ seq: 11, problem: 'is missing' })
  })

  it('[O-AUD-2] [O-TSK-2] says while it catches up that it gets on, and that it is behind', async () => {
    await write(2)
    await clock.advance(10_001)
    await write(3)
    const sealer = sealerOn(db, clock, { batchItems: 2 })
    const behind: boolean[] = []
    await sealer.seal(() => behind.push(sealer.behind()))
    expect(behind).toEqual([true, false, false])
    expect(await rows()).toHaveLength(5)
  })

  it('[O-AUD-2] knows when rows have waited for more than 10 seconds', async () => {
    const holder = sealerOn(db, clock, { holder: 'bt1-a' })
    const other = sealerOn(db, clock, { holder: 'bt1-b' })
    await sealed(1)
    await write(1)
    await meddle("UPDATE leases SET holder = 'bt1-gone', expires_at_unix_ms = 9000000000000000")
    await clock.advance(10_000)
    await Promise.all([holder.seal(), other.seal()])
    expect([holder.behind(), other.behind()]).toEqual([false, false])
    await clock.advance(1)
    await Promise.all([holder.seal(), other.seal()])
    expect([holder.behind(), other.behind()]).toEqual([true, true])
    await meddle('UPDATE leases SET expires_at_unix_ms = 0')
    await holder.seal()
    await other.seal()
    expect([holder.behind(), other.behind()]).toEqual([false, false])
  })

  it('[O-SCH-2] [O-AUD-2] a sealer that was paused links nothing', async () => {
    const paused = sealerOn(db, clock, { holder: 'bt1-a' })
    await write(2)
    await paused.seal()
    await meddle('UPDATE leases SET expires_at_unix_ms = 0')
    await sealed(2, { holder: 'bt1-b' })
    await write(3)
    await paused.seal()
    expect(await rows()).toHaveLength(4)
    expect(await verify()).not.toHaveProperty('broken')
  })

  it('[O-AUD-3] logs its head', async () => {
    const log = createRecordedLog()
    await sealerOn(db, clock, { log }).logHead()
    await sealed(2)
    await sealerOn(db, clock, { log }).logHead()
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { seq: 0, hash: '0'.repeat(64) },
      { seq: 2, hash: (await verify()).head_hash },
    ])
  })

  it('[O-AUD-2] keeps no plan of the time when little was waiting', async () => {
    if (db.backend !== 'postgres') return
    for (let round = 0; round < 10; round += 1) await sealed(2)
    const kept = statement({
      name: 'tests.kept-plans',
      text: `SELECT name, generic_plans AS used FROM pg_prepared_statements
        WHERE name LIKE 'audit-chain.%' AND cardinality(parameter_types) > 0 ORDER BY name`,
      row: { name: 'text', used: 'integer' },
    })
    // The pool lends the connection that came back last.
    expect(await db.transaction((tx) => tx.all(kept, {}))).toEqual(
      ['end', 'move-end', 'remove-unsealed', 'seal', 'unsealed'].map((name) => {
        return { name: `audit-chain.${name}`, used: 0 }
      }),
    )
  })

  it('[O-AUD-2] finds what is not sealed without reading the rest', async () => {
    if (db.backend === 'postgres') return
    const plan = statement({
      name: 'tests.plan',
      text: 'EXPLAIN QUERY PLAN SELECT id FROM audit_unsealed ORDER BY number LIMIT 1',
      row: { id: 'integer', parent: 'integer', notused: 'integer', detail: 'text' },
    })
    const [step] = await db.all(plan, {})
    expect(step?.detail).toBe('SCAN audit_unsealed')
  })
})
