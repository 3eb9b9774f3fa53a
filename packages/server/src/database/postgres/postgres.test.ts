import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import {
  DatabaseContention,
  DatabaseUnavailable,
  DatabaseUnfit,
  StatementTimeout,
  UniqueViolation,
} from '../database.ts'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { openDatabase } from '../open.ts'
import { batchStatement, statement } from '../statement.ts'
import {
  onServer,
  type PostgresServer,
  refusedUser,
  startPostgresServer,
} from '../testing/postgres-server.ts'
import { silentLog } from '../testing/silent-log.ts'
import { startProxy } from '../testing/tcp-proxy.ts'
import type { DatabaseConfig } from './config.ts'

const clock = createSystemClock()
let server: PostgresServer
let created = 0
/** Where the server listens on a Unix socket. */
const sockets = mkdtempSync(join(tmpdir(), 'guildhall-sockets-'))

beforeAll(async () => {
  chmodSync(sockets, 0o777)
  server = await startPostgresServer([`unix_socket_directories=${sockets}`])
})

afterAll(async () => {
  await server.dispose()
  rmSync(sockets, { recursive: true })
})

describe('opening a PostgreSQL database', () => {
  it('[O-STA-4] fails at once on a refused login, an unknown database or a bad URL', async () => {
    const config = { startup_wait_ms: 600_000 }
    const refused = server.url('postgres').replace('guildhall@', `${refusedUser}:secret@`)
    for (const url of [refused, server.url('missing'), 'postgres://a b:secret@[/x']) {
      const opening = open(url, config)
      await expect(opening).rejects.toBeInstanceOf(DatabaseUnfit)
      await expect(opening).rejects.not.toThrow('secret')
    }
  })

  it('[O-STA-4] waits for a server that cannot be reached, and gives up after startup_wait_ms', async () => {
    const { url } = await freshDatabase()
    await server.stop()
    await expect(open(url, { startup_wait_ms: 0 })).rejects.toBeInstanceOf(DatabaseUnavailable)
    const opening = open(url, { startup_wait_ms: 60_000 })
    await clock.sleep(100)
    await server.start()
    const db = await opening
    expect(db.state()).toBe('up')
    await db.close()
  })

  it('[O-DB-1] reaches a server on the same machine through its Unix socket', async () => {
    const asHost = server.url('postgres').replace('127.0.0.1', encodeURIComponent(sockets))
    const asParameter = `postgres:///postgres?host=${sockets}&port=${server.port}&user=guildhall`
    for (const url of [asHost, asParameter]) {
      const db = await open(url)
      expect(await db.get(addressOfServer, {})).toEqual({ address: null })
      await db.close()
    }
  })

  it('[O-DB-9] refuses a database whose encoding is not UTF-8', async () => {
    await onServer(
      server.url('postgres'),
      "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0",
    )
    await expect(open(server.url('ascii'))).rejects.toThrow('UTF8')
  })
})

describe('a PostgreSQL database', () => {
  it('[O-FLT-1] [O-FLT-3] fails everything at once while it is down, and recovers by itself', async () => {
    const { db } = await freshDatabase()
    const acknowledged = new Set<string>()
    let loading = true
    async function load(writer: number): Promise<void> {
      for (let at = 0; loading; at += 1) {
        const id = `${writer}-${at}`
        await db.run(insertNote, { id }).then(
          () => acknowledged.add(id),
          () => clock.sleep(5),
        )
        await db.get(noteById, { id }).catch(() => {})
      }
    }
    const writers = Array.from({ length: 8 }, (_, writer) => load(writer))
    await until(() => acknowledged.size > 100)
    await server.stop()
    await until(() => db.state() === 'suspect')
    expect(await db.probe()).toBe(false)
    expect(db.state()).not.toBe('up')
    expect(await db.probe()).toBe(false)
    expect(db.state()).toBe('down')
    const refused = [
      db.get(noteById, { id: 'x' }),
      db.run(insertNote, { id: 'x' }),
      db.transaction(async () => 1),
    ]
    for (const each of refused) await expect(each).rejects.toThrow('the database is down')
    await server.start()
    expect(db.state()).toBe('down')
    expect(await db.probe()).toBe(true)
    expect(db.state()).toBe('up')
    const before = acknowledged.size
    await until(() => acknowledged.size > before + 100)
    loading = false
    await Promise.all(writers)
    const stored = new Set((await db.all(noteIds, {})).map((row) => row.id))
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([])
    await db.close()
  })

  it('[O-FLT-1] fails what is under way and what waits when the server vanishes without a word', async () => {
    const { db: setUp, name } = await freshDatabase()
    await setUp.close()
    const proxy = await startProxy(server.port)
    const url = server.url(name).replace(`:${server.port}/`, `:${proxy.port}/`)
    const db = await open(url, { max_connections: 4, acquire_timeout_ms: 60_000 })
    await db.run(insertNote, { id: 'before' })
    await db.get(noteById, { id: 'before' })
    expect(await db.probe()).toBe(true)
    proxy.freeze()
    const underWay = [
      db.get(noteById, { id: 'before' }),
      ...Array.from({ length: 6 }, (_, at) => db.run(insertNote, { id: `under-way-${at}` })),
    ]
    const settled = Promise.allSettled(underWay)
    await until(() => db.stats().waiting > 0)
    expect([await db.probe(), await db.probe()]).toEqual([false, false])
    const reasons = (await settled).map((each) => each.status === 'rejected' && each.reason)
    for (const reason of reasons) expect(reason).toBeInstanceOf(DatabaseUnavailable)
    proxy.thaw()
    expect(await db.probe()).toBe(true)
    await db.run(insertNote, { id: 'after' })
    await db.close()
    await proxy.close()
  })

  it('[O-FLT-3] counts as down while it is read-only', async () => {
    const { db, name } = await freshDatabase()
    const admin = server.url('postgres')
    await onServer(admin, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    expect([await db.probe(), await db.probe()]).toEqual([false, false])
    expect(db.state()).toBe('down')
    await onServer(admin, `ALTER DATABASE ${name} RESET default_transaction_read_only`)
    expect(await db.probe()).toBe(true)
    expect(db.state()).toBe('up')
    await db.run(insertNote, { id: 'writable' })
    await db.close()
  })

  it('[O-TX-3] gives up after transaction_attempts, and counts it', async () => {
    const { db } = await freshDatabase({ transaction_attempts: 1 })
    await db.run(insertNote, { id: 'a' })
    // Both read everything before either writes: one of them cannot be serialized.
    const bothRead = barrier(2)
    const outcomes = await Promise.allSettled(
      ['b', 'c'].map((id) =>
        db.transaction(async (tx) => {
          await tx.all(noteIds, {})
          await bothRead()
          await tx.run(insertNote, { id })
        }),
      ),
    )
    const failed = outcomes.filter((each) => each.status === 'rejected')
    expect(failed.map((each) => each.reason)).toEqual([expect.any(DatabaseContention)])
    expect(db.stats().contention_total).toBe(1)
    await db.close()
  })

  it('[O-TX-3] runs a body again whose connection was lost before COMMIT', async () => {
    const { db } = await freshDatabase()
    let bodies = 0
    await db.transaction(async (tx) => {
      bodies += 1
      await tx.run(insertNote, { id: 'once' })
      if (bodies === 1) await tx.get(endThisConnection, {})
    })
    expect(bodies).toBe(2)
    expect(await db.all(noteIds, {})).toEqual([{ id: 'once' }])
    await db.close()
  })

  it('[O-TX-4] repeats what was cut off during COMMIT only if a repeat is harmless', async () => {
    const { db } = await freshDatabase()
    await db.schema.transaction(async (tx) => {
      for (const step of dieDuringFirstCommits) await tx.ddl(step)
    })
    let bodies = 0
    const work = (options?: { idempotent: boolean }) =>
      db.transaction(async (tx) => {
        bodies += 1
        await tx.run(insertNote, { id: 'cut-off' })
      }, options)
    await expect(work()).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(bodies).toBe(1)
    await work({ idempotent: true })
    expect(bodies).toBe(3)
    expect(await db.all(noteIds, {})).toEqual([{ id: 'cut-off' }])
    await db.close()
  })

  it('ends a statement that runs longer than statement_timeout_ms, and goes on', async () => {
    const { db } = await freshDatabase({ statement_timeout_ms: 100 })
    await expect(db.get(sleepForAMinute, {})).rejects.toBeInstanceOf(StatementTimeout)
    await db.run(insertNote, { id: 'after' })
    await db.close()
  })

  it('[O-TRN-3] lets the statements of a long transaction run on, and only those', async () => {
    const { db } = await freshDatabase({ statement_timeout_ms: 100, max_connections: 1 })
    const sleep = (options?: { long: true }) =>
      db.transaction((tx) => tx.all(sleepForTwoSeconds, {}), options)
    await expect(sleep()).rejects.toBeInstanceOf(StatementTimeout)
    expect(await sleep({ long: true })).toEqual([{ one: 1 }])
    expect(await db.get(statementLimit, {})).toEqual({ setting: '100ms' })
    await expect(sleep()).rejects.toBeInstanceOf(StatementTimeout)
    await db.close()
  })

  it('plans anew at every call of a long transaction, and nowhere else', async () => {
    const { db } = await freshDatabase({ max_connections: 1 })
    let inserted = 0
    const insertTen = (options?: { long: true }) =>
      db.transaction(async (tx) => {
        for (const end = inserted + 10; inserted < end; inserted += 1)
          await tx.run(insertNote, { id: `${inserted}` })
        return (await tx.get(generalPlans, { name: insertNote.name }))?.used
      }, options)
    expect(await insertTen({ long: true })).toBe(0)
    const used = await insertTen()
    expect(used).toBeGreaterThan(0)
    expect(await insertTen({ long: true })).toBe(used)
    await db.close()
  })

  it('[O-DB-6] [O-DB-8] says for one commit alone that only its order matters', async () => {
    // One connection: whatever it kept, the next one would meet.
    const { db } = await freshDatabase({ max_connections: 1 })
    const commitOf = async (id: string, durable?: 'later') => {
      const options = durable && { durable }
      const seen = await db.transaction((tx) => tx.each(insertAndReturn, [{ id }]), options)
      return seen[0]?.setting
    }
    expect(await commitOf('a')).toBe('on')
    expect(await commitOf('b', 'later')).toBe('off')
    expect(await commitOf('c')).toBe('on')
    const seen = await db.transaction((tx) => tx.each(insertAndReturn, [{ id: 'd' }]))
    expect(seen).toEqual([{ setting: 'on' }])
    await expect(commitOf('a', 'later')).rejects.toBeInstanceOf(UniqueViolation)
    expect(await commitOf('e')).toBe('on')
    expect(await db.all(noteIds, {})).toHaveLength(5)
    await db.close()
  })

  it('turns away who waits longer than acquire_timeout_ms for a connection', async () => {
    const { db } = await freshDatabase({ max_connections: 1, acquire_timeout_ms: 1000 })
    const held = Promise.withResolvers<void>()
    const holder = db.transaction(() => held.promise)
    await until(() => db.stats().in_use === 1)
    const waiting = db.run(insertNote, { id: 'waiting' })
    expect(db.stats()).toMatchObject({ in_use: 1, waiting: 1 })
    await expect(waiting).rejects.toBeInstanceOf(DatabaseUnavailable)
    held.resolve()
    await holder
    await db.run(insertNote, { id: 'served' })
    expect(db.stats()).toMatchObject({ in_use: 0, waiting: 0 })
    await db.close()
  })
})

async function open(url: string, config: Partial<DatabaseConfig> = {}): Promise<OpenedDatabase> {
  return openDatabase({ url, config, clock, log: silentLog, randomness: randomBytes })
}

async function freshDatabase(config: Partial<DatabaseConfig> = {}) {
  created += 1
  const name = `fresh_${created}`
  await onServer(server.url('postgres'), `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = server.url(name)
  const db = await open(url, config)
  await db.schema.transaction((tx) => tx.ddl('CREATE TABLE notes (id text NOT NULL PRIMARY KEY)'))
  return { db, name, url }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await clock.sleep(5)
}

/** Lets `count` callers through together. */
function barrier(count: number): () => Promise<void> {
  const open = Promise.withResolvers<void>()
  let arrived = 0
  return () => {
    arrived += 1
    if (arrived === count) open.resolve()
    return open.promise
  }
}

/** Ends the connection inside the first two commits; sequences are not rolled back, so it stops. */
const dieDuringFirstCommits = [
  'CREATE SEQUENCE commits',
  `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('commits') <= 2 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
    RETURN NULL;
  END $$`,
  `CREATE CONSTRAINT TRIGGER die AFTER INSERT ON notes
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`,
]

const insertNote = statement({
  name: 'postgres-test.insert-note',
  text: 'INSERT INTO notes (id) VALUES (:id)',
  params: { id: 'text' },
})

/** How often one plan for all parameters was used on this connection. */
const generalPlans = statement({
  name: 'postgres-test.general-plans',
  text: 'SELECT generic_plans AS used FROM pg_prepared_statements WHERE name = :name',
  params: { name: 'text' },
  row: { used: 'integer' },
})

const insertAndReturn = batchStatement({
  name: 'postgres-test.insert-and-return',
  text: `INSERT INTO notes (id) SELECT r.id FROM {{rows}} AS r
    RETURNING current_setting('synchronous_commit') AS setting`,
  params: { id: 'text' },
  row: { setting: 'text' },
})

const noteById = statement({
  name: 'postgres-test.note-by-id',
  text: 'SELECT id FROM notes WHERE id = :id',
  params: { id: 'text' },
  row: { id: 'text' },
})

const noteIds = statement({
  name: 'postgres-test.note-ids',
  text: 'SELECT id FROM notes ORDER BY id',
  row: { id: 'text' },
})

const addressOfServer = statement({
  name: 'postgres-test.address-of-server',
  text: 'SELECT CAST(inet_server_addr() AS text) AS address',
  row: { address: 'text?' },
})

const endThisConnection = statement({
  name: 'postgres-test.end-this-connection',
  text: 'SELECT pg_terminate_backend(pg_backend_pid()) AS ended',
  row: { ended: 'integer' },
})

/** Longer than the limit, and than the second more after which a silent connection is dropped. */
const sleepForTwoSeconds = statement({
  name: 'postgres-test.sleep-two-seconds',
  text: 'SELECT 1 AS one FROM pg_sleep(2.5)',
  row: { one: 'integer' },
})

const statementLimit = statement({
  name: 'postgres-test.statement-limit',
  text: `SELECT current_setting('statement_timeout') AS setting`,
  row: { setting: 'text' },
})

const sleepForAMinute = statement({
  name: 'postgres-test.sleep',
  text: 'SELECT 1 AS one FROM pg_sleep(60)',
  row: { one: 'integer' },
})
