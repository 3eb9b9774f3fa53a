import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import { DatabaseUnavailable } from '../../database.ts'
import type { OpenedDatabase } from '../../migrations/schema-access.ts'
import { openDatabase } from '../../open.ts'
import { statement } from '../../statement.ts'
import { silentLog } from '../../testing/silent-log.ts'

const clock = createSystemClock()
let folder: string
let db: OpenedDatabase

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-long-'))
  const url = `sqlite:${join(folder, 'guildhall.db')}`
  db = await openDatabase({ url, clock, log: silentLog, randomness: randomBytes })
  await db.schema.transaction((tx) => {
    return tx.ddl('CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, size INTEGER) STRICT')
  })
})
afterEach(async () => {
  await db.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a long statement on a SQLite file', () => {
  it('lets others read and write while it runs', async () => {
    const ended: string[] = []
    const long = db.get(countTo, { last: 2_000_000 }).then((row) => {
      ended.push('long')
      return row
    })
    await db.run(insertNote, { id: 'a', size: 1n })
    await db.get(noteById, { id: 'a' })
    ended.push('write and read')
    expect(await long).toEqual({ counted: 2_000_000 })
    expect(ended).toEqual(['write and read', 'long'])
  })

  it('sees everything that was committed before it', async () => {
    await db.run(insertNote, { id: 'a', size: 2n ** 62n })
    expect(await db.all(everyNote, {})).toEqual([{ id: 'a', size: 2n ** 62n }])
    await db.transaction(async (tx) => {
      await tx.run(insertNote, { id: 'b', size: -1n })
      // Inside of a transaction it is a statement like any other, which sees its own changes.
      expect(await tx.all(everyNote, {})).toHaveLength(2)
    })
    expect(await db.all(everyNote, {})).toHaveLength(2)
  })

  it('reports the mistakes of its author and goes on', async () => {
    await expect(db.get(countTo, { last: 1.5 })).rejects.toThrow(':last must be integer')
    await expect(db.all(broken, {})).rejects.toThrow('no such table')
    expect(await db.get(countTo, { last: 3 })).toEqual({ counted: 3 })
  })

  it('ends with the file: what was asked is answered, later questions are refused', async () => {
    const long = db.get(countTo, { last: 500_000 })
    await db.close()
    expect(await long).toEqual({ counted: 500_000 })
    await expect(db.get(countTo, { last: 1 })).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(readdirSync(folder).sort()).toEqual(['guildhall.db', 'guildhall.db.lock'])
  })
})

const countTo = statement({
  name: 'long-statements-test.count-to',
  text: `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :last)
    SELECT count(*) AS counted FROM numbers`,
  params: { last: 'integer' },
  row: { counted: 'integer' },
  long: true,
})

const noteColumns = { id: 'text', size: 'bigint' } as const

const insertNote = statement({
  name: 'long-statements-test.insert',
  text: 'INSERT INTO notes (id, size) VALUES (:id, :size)',
  params: noteColumns,
})

const noteById = statement({
  name: 'long-statements-test.by-id',
  text: 'SELECT id, size FROM notes WHERE id = :id',
  params: { id: 'text' },
  row: noteColumns,
})

const everyNote = statement({
  name: 'long-statements-test.every',
  text: 'SELECT id, size FROM notes ORDER BY id',
  row: noteColumns,
  long: true,
})

const broken = statement({
  name: 'long-statements-test.broken',
  text: 'SELECT 1 FROM missing',
  long: true,
})
