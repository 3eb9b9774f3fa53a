import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { atEndOfTurn, createSystemClock } from '../../kernel/clock.ts'
import { DatabaseUnavailable } from '../database.ts'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { lookup, statement } from '../statement.ts'
import { silentLog } from '../testing/silent-log.ts'
import { SqliteConnection } from './connection.ts'
import { LookupCache } from './lookup-cache.ts'
import { openFileDatabase, openFileToRead, openMemoryDatabase } from './sqlite-database.ts'

const clock = createSystemClock()
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-lookups-'))
  path = join(folder, 'lookups.db')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const backends: [string, () => Promise<OpenedDatabase>][] = [
  ['in memory', async () => openMemoryDatabase({ clock })],
  ['a SQLite file', () => openFileDatabase(path, { clock, log: silentLog })],
]

describe.each(backends)('cached answers, %s', (_name, open) => {
  let db: OpenedDatabase

  beforeEach(async () => {
    db = await open()
    await createTables(db)
  })

  afterEach(() => db.close())

  it('[H-AUTH-2] are there after the first read, and the same', async () => {
    expect(atHand(db, { ticket: 'none' })).toBeUndefined()
    await begin(db)
    const read = db.find(ticketLookup, { ticket: 't1' })
    expect(read).toBeInstanceOf(Promise)
    const row = { ticket: 't1', uses: 0, owner: 'ana', name: 'Ana' }
    expect(await read).toEqual(row)
    expect(atHand(db, { ticket: 't1' })).toEqual(row)
  })

  it('[H-AUTH-2] have keys of bytes, too', async () => {
    const seal = Uint8Array.from({ length: 32 }, (_, at) => 250 + at)
    await db.run(setSeal, { seal, ticket: 't1' })
    await begin(db, async () => void (await db.find(sealLookup, { seal })))
    expect(db.find(sealLookup, { seal })).toMatchObject({ ticket: 't1' })
    await db.run(setSeal, { seal: Uint8Array.of(1), ticket: 't1' })
    expect(await db.find(sealLookup, { seal })).toBeUndefined()
  })

  it.each([
    ['its own row changes', use],
    ['its own row goes', drop],
    ['the row that it is joined with changes', rename],
  ] as const)(
    '[O-NOD-1] are forgotten when %s, before the change is acknowledged',
    async (_, change) => {
      await begin(db)
      await db.find(ticketLookup, { ticket: 't1' })
      await db.find(ticketLookup, { ticket: 't3' })
      await change(db)
      expect(atHand(db, { ticket: 't1' })).toBeUndefined()
      // Another owner's answer is not concerned.
      expect(atHand(db, { ticket: 't3' })).toMatchObject({ owner: 'bob' })
    },
  )

  it('[O-TX-1] are not made of what a transaction is about to change', async () => {
    await begin(db)
    let during: unknown
    await db.transaction(async (tx) => {
      await tx.run(useTicket, { ticket: 't1', uses: 7 })
      during = db.find(ticketLookup, { ticket: 't1' })
    })
    await during
    const known = atHand(db, { ticket: 't1' })
    expect(known === undefined || known.uses === 7).toBe(true)
    expect((await db.find(ticketLookup, { ticket: 't1' }))?.uses).toBe(7)
  })

  it('[O-TX-1] stay true when a transaction is undone', async () => {
    await begin(db)
    await db.find(ticketLookup, { ticket: 't1' })
    const undone = db.transaction(async (tx) => {
      await tx.run(useTicket, { ticket: 't1', uses: 9 })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await db.find(ticketLookup, { ticket: 't1' })
    expect(atHand(db, { ticket: 't1' })).toMatchObject({ uses: 0 })
  })

  it('[H-AUTH-2] never differ from a read, whatever is written between', async () => {
    await begin(db)
    const ticket = fc.constantFrom('t1', 't2', 't3')
    const step = fc.oneof(
      fc.record({ kind: fc.constant('find' as const), ticket }),
      fc.record({ kind: fc.constant('use' as const), ticket, undo: fc.boolean() }),
      fc.record({ kind: fc.constant('rename' as const), owner: fc.constantFrom('ana', 'bob') }),
      fc.record({ kind: fc.constant('turn' as const) }),
    )
    let written = 0
    const run = async (each: typeof step extends fc.Arbitrary<infer T> ? T : never) => {
      written += 1
      if (each.kind === 'find') await db.find(ticketLookup, { ticket: each.ticket })
      if (each.kind === 'turn') await new Promise<void>((resolve) => atEndOfTurn(resolve))
      if (each.kind === 'rename') {
        await db.run(renameOwner, { owner: each.owner, name: `n${written}` })
      }
      if (each.kind !== 'use') return
      const uses = written
      await db
        .transaction(async (tx) => {
          await tx.run(useTicket, { ticket: each.ticket, uses })
          if (each.undo) throw new Error('undone')
        })
        .catch(() => undefined)
    }
    const steps = fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const running: Promise<void>[] = []
        for (const [each, awaited] of all) {
          const done = run(each)
          running.push(done)
          if (!awaited) continue
          await done
        }
        await Promise.all(running)
        for (const ticket of ['t1', 't2', 't3']) {
          const known = atHand(db, { ticket })
          if (known !== undefined) expect(known).toEqual(await db.get(ticketRow, { ticket }))
        }
      }),
      { numRuns: 150 },
    )
  })
})

describe('cached answers', () => {
  it('[O-DB-7] are forgotten within a probe of a write by another program', async () => {
    const db = await openFileDatabase(path, { clock, log: silentLog })
    await createTables(db)
    await db.probe()
    await begin(db)
    await db.find(ticketLookup, { ticket: 't1' })
    await db.probe()
    expect(atHand(db, { ticket: 't1' })).toMatchObject({ uses: 0 })
    const other = new DatabaseSync(path)
    other.exec("UPDATE tickets SET uses = 5 WHERE ticket = 't1'")
    other.close()
    await db.probe()
    expect(atHand(db, { ticket: 't1' })).toBeUndefined()
    await db.close()
  })

  it('[O-FLT-2] [O-DSK-1] are not used while the disk is full, when everything is read', async () => {
    const db = await openFileDatabase(path, { clock, log: silentLog })
    await createTables(db)
    await begin(db)
    await db.find(ticketLookup, { ticket: 't1' })
    expect(atHand(db, { ticket: 't1' })).toBeDefined()
    await db.schema.transaction((tx) => tx.ddl('PRAGMA max_page_count = 1'))
    const big = db.run(renameOwner, { owner: 'ana', name: 'x'.repeat(500_000) })
    await expect(big).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(db.state()).toBe('down')
    expect(atHand(db, { ticket: 't1' })).toBeUndefined()
    expect(await db.find(ticketLookup, { ticket: 't1' })).toMatchObject({ name: 'Ana' })
    await db.close()
  })

  it('are bounded in number; those asked for stay longest', async () => {
    const connection = new SqliteConnection(':memory:', { nowUnixMs: () => 0 })
    connection.exec(tables.join(';'))
    const writer = {
      do: async (_u: unknown, _c: unknown, work: (on: unknown) => unknown) => work(connection),
    }
    const cache = new LookupCache(connection, writer as never, { answersMax: 10 })
    const keep = (ticket: string) =>
      cache.keep(ticketLookup, { ticket, uses: 0, owner: 'ana', name: 'Ana' })
    keep('first')
    await Promise.resolve()
    for (let at = 0; at < 100; at += 1) {
      keep(`k${at}`)
      if (at > 0) expect(cache.recall(ticketLookup, { ticket: 'k0' })).toBeDefined()
    }
    const kept = Array.from({ length: 100 }, (_, at) =>
      cache.recall(ticketLookup, { ticket: `k${at}` }),
    )
    expect(kept.filter((row) => row !== undefined).length).toBeLessThanOrEqual(20)
    connection.close()
  })

  it('are not kept by a reader beside the process that serves the file', async () => {
    const db = await openFileDatabase(path, { clock, log: silentLog })
    await createTables(db)
    const reader = openFileToRead(path, { clock })
    for (let turn = 0; turn < 3; turn += 1) {
      await reader.find(ticketLookup, { ticket: 't2' })
      await new Promise<void>((resolve) => atEndOfTurn(resolve))
    }
    expect(atHand(reader, { ticket: 't2' })).toBeUndefined()
    await reader.close()
    await db.close()
  })
})

/** What is answered without a read. */
function atHand(db: OpenedDatabase, key: { ticket: string }) {
  const found = db.find(ticketLookup, key)
  return found instanceof Promise ? undefined : found
}

const tables = [
  'CREATE TABLE owners (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT',
  `CREATE TABLE tickets (ticket TEXT PRIMARY KEY, seal BLOB, owner TEXT NOT NULL,
    uses INTEGER NOT NULL) STRICT`,
]

async function createTables(db: OpenedDatabase): Promise<void> {
  await db.schema.transaction(async (tx) => {
    for (const text of tables) await tx.ddl(text)
    await tx.ddl("INSERT INTO owners VALUES ('ana', 'Ana'), ('bob', 'Bob')")
    await tx.ddl(
      "INSERT INTO tickets VALUES ('t1', NULL, 'ana', 0), ('t2', NULL, 'ana', 0), ('t3', NULL, 'bob', 0)",
    )
  })
}

/** The first read only makes the database watch the tables. */
async function begin(
  db: OpenedDatabase,
  read = async () => void (await db.find(ticketLookup, { ticket: 't2' })),
): Promise<void> {
  await read()
  // A later write is durable only after the watching is.
  await db.run(useTicket, { ticket: 'unknown', uses: 0 })
  await read()
}

const ticketLookup = lookup({
  name: 'lookup-cache-test.ticket',
  text: `SELECT r.ticket, t.uses, t.owner, o.name FROM {{rows}} AS r
    JOIN tickets t ON t.ticket = r.ticket JOIN owners o ON o.id = t.owner`,
  params: { ticket: 'text' },
  row: { ticket: 'text', uses: 'integer', owner: 'text', name: 'text' },
  cached: {
    table: 'tickets',
    column: 'ticket',
    joined: { table: 'owners', column: 'id', as: 'owner' },
  },
})

const sealLookup = lookup({
  name: 'lookup-cache-test.seal',
  text: `SELECT r.seal, t.ticket, t.owner FROM {{rows}} AS r JOIN tickets t ON t.seal = r.seal`,
  params: { seal: 'bytes' },
  row: { seal: 'bytes', ticket: 'text', owner: 'text' },
  cached: {
    table: 'tickets',
    column: 'seal',
    joined: { table: 'owners', column: 'id', as: 'owner' },
  },
})

const ticketRow = statement({
  name: 'lookup-cache-test.row',
  text: `SELECT t.ticket, t.uses, t.owner, o.name FROM tickets t JOIN owners o ON o.id = t.owner
    WHERE t.ticket = :ticket`,
  params: { ticket: 'text' },
  row: { ticket: 'text', uses: 'integer', owner: 'text', name: 'text' },
})

const useTicket = statement({
  name: 'lookup-cache-test.use',
  text: 'UPDATE tickets SET uses = :uses WHERE ticket = :ticket',
  params: { ticket: 'text', uses: 'integer' },
})

const setSeal = statement({
  name: 'lookup-cache-test.seal-it',
  text: 'UPDATE tickets SET seal = :seal WHERE ticket = :ticket',
  params: { seal: 'bytes', ticket: 'text' },
})

const dropTicket = statement({
  name: 'lookup-cache-test.drop',
  text: 'DELETE FROM tickets WHERE ticket = :ticket',
  params: { ticket: 'text' },
})

const renameOwner = statement({
  name: 'lookup-cache-test.rename',
  text: 'UPDATE owners SET name = :name WHERE id = :owner',
  params: { owner: 'text', name: 'text' },
})

function use(db: OpenedDatabase) {
  return db.run(useTicket, { ticket: 't1', uses: 1 })
}

function drop(db: OpenedDatabase) {
  return db.run(dropTicket, { ticket: 't1' })
}

function rename(db: OpenedDatabase) {
  return db.run(renameOwner, { owner: 'ana', name: 'Anna' })
}
