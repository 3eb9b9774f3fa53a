import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { DatabaseUnavailable } from '../../database.ts'
import type { OpenedDatabase } from '../../migrations/schema-access.ts'
import { openDatabase } from '../../open.ts'
import { statement } from '../../statement.ts'
import { silentLog } from '../../testing/silent-log.ts'

let root: string
let folder: string
let path: string
let errors: string[]
let db: OpenedDatabase

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'guildhall-removed-'))
  folder = join(root, 'data')
  mkdirSync(folder)
  path = join(folder, 'guildhall.db')
  errors = []
  db = await openAt(path)
  await db.schema.transaction((tx) => tx.ddl('CREATE TABLE notes (id TEXT PRIMARY KEY) STRICT'))
  await write('before')
})

afterEach(async () => {
  await db.close()
  rmSync(root, { recursive: true, force: true })
})

describe('[O-FLT-1] a file that is not at its path any more', () => {
  it('takes no writes, and nothing is put in its place', async () => {
    rmSync(path)
    await expectDown()
    expect(existsSync(path)).toBe(false)
  })

  it.each([
    ['moved', (away: string) => renameSync(path, join(folder, away))],
    ['in a folder that was renamed', (away: string) => renameSync(folder, join(root, away))],
  ])('serves again, as a whole, when it was %s and is back', async (_name, move) => {
    move('away')
    await expectDown()
    const from = existsSync(join(root, 'away')) ? root : folder
    renameSync(join(from, 'away'), from === root ? folder : path)
    expect(await db.probe()).toBe(true)
    await write('later')
    expect(await idsIn(db)).toEqual(['before', 'later'])
  })

  it('is not at it either where a link of the path leads elsewhere', async () => {
    await db.close()
    const link = join(root, 'current')
    symlinkSync(folder, link)
    db = await openAt(join(link, 'guildhall.db'))
    expect(await db.probe()).toBe(true)
    rmSync(link)
    symlinkSync(root, link)
    await expectDown()
  })

  it('leaves alone the database that was put in its place, and the log of that', async () => {
    const other = new DatabaseSync(join(root, 'other.db'))
    other.exec(`PRAGMA journal_mode = WAL; ${otherDatabase}`)
    for (const end of ['', '-wal']) copyFileSync(join(root, `other.db${end}`), `${path}-new${end}`)
    other.close()
    renameSync(`${path}-new-wal`, `${path}-wal`)
    renameSync(`${path}-new`, path)
    await expectDown()
    await db.close()
    expectOther()
  })

  it('leaves nothing in its log, which the database in its place would take for its own', async () => {
    const other = new DatabaseSync(`${path}-new`)
    other.exec(otherDatabase)
    other.close()
    renameSync(`${path}-new`, path)
    await expectDown()
    expectOther()
  })
})

it('[O-DB-6] a log that was removed alone costs nothing that was acknowledged', async () => {
  rmSync(`${path}-wal`)
  await write('without a name')
  expect(await db.probe()).toBe(true)
  expect(errors).toEqual(['the log beside the database file was removed; the file is opened anew'])
  await write('later')
  for (const end of ['', '-wal']) copyFileSync(path + end, join(root, `as-after-a-kill.db${end}`))
  const next = await openAt(join(root, 'as-after-a-kill.db'))
  expect(await idsIn(next)).toEqual(['before', 'later', 'without a name'])
  await next.close()
})

const otherDatabase = "CREATE TABLE notes (id TEXT); INSERT INTO notes VALUES ('of another')"

function expectOther(): void {
  const found = new DatabaseSync(path)
  expect(found.prepare('SELECT * FROM notes').all()).toEqual([{ id: 'of another' }])
  found.close()
}

async function expectDown(): Promise<void> {
  for (const _ of [1, 2]) expect(await db.probe()).toBe(false)
  expect(db.state()).toBe('down')
  await expect(write('lost')).rejects.toBeInstanceOf(DatabaseUnavailable)
  await expect(idsIn(db)).rejects.toBeInstanceOf(DatabaseUnavailable)
  expect(errors).toEqual([
    'the database file is not at its path any more and is closed until it is back there',
  ])
}

function openAt(at: string): Promise<OpenedDatabase> {
  const log: Log = { ...silentLog, error: (message) => errors.push(message), component: () => log }
  const url = `sqlite:${at}`
  return openDatabase({ url, clock: createSystemClock(), log, randomness: randomBytes })
}

async function write(id: string): Promise<void> {
  await db.run(insertNote, { id })
}

async function idsIn(from: OpenedDatabase): Promise<string[]> {
  return (await from.all(notes, {})).map(({ id }) => id)
}

const insertNote = statement({
  name: 'removed-file-test.insert-note',
  text: 'INSERT INTO notes (id) VALUES (:id)',
  params: { id: 'text' },
})

const notes = statement({
  name: 'removed-file-test.notes',
  text: 'SELECT id FROM notes ORDER BY id',
  row: { id: 'text' },
})
