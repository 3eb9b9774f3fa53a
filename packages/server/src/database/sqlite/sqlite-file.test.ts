import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { linkSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { DatabaseUnavailable } from '../database.ts'
import type { OpenedDatabase } from '../migrations/schema-access.ts'
import { openDatabase } from '../open.ts'
import { statement } from '../statement.ts'
import { silentLog } from '../testing/silent-log.ts'
import { backUpFile } from './file/backup.ts'
import { DatabaseInUse } from './file/file-lock.ts'
import { openWalFile } from './file/wal-file.ts'
import { openFileDatabase } from './sqlite-database.ts'

const clock = createSystemClock()
let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-file-'))
  path = join(folder, 'guildhall.db')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('a SQLite file', () => {
  it('[O-DB-6] has every acknowledged write after its process was killed under load', async () => {
    const child = startCrashChild(path)
    const acknowledged = await linesUntil(child, 400)
    await expect(openFile()).rejects.toBeInstanceOf(DatabaseInUse)
    const rest = linesOf(child)
    child.kill('SIGKILL')
    acknowledged.push(...(await rest))
    const db = await openFile()
    const stored = new Set((await db.all(acknowledgedIds, {})).map((row) => row.id))
    const missing = acknowledged.filter((id) => !stored.has(id) || !stored.has(`${id}-twin`))
    expect(missing).toEqual([])
    // A write that was cut off is there as a whole or not at all.
    const halves = [...stored].filter((id) => !id.endsWith('twin') && !stored.has(`${id}-twin`))
    expect(halves).toEqual([])
    await db.close()
  })

  it('[O-DB-7] belongs to one opener at a time and is free again once closed', async () => {
    const db = await openFile()
    await expect(openFile()).rejects.toThrow(`${path} is in use by another process`)
    await db.close()
    await (await openFile()).close()
  })

  it('[O-DB-7] stays with its opener when somebody removes the lock', async () => {
    const db = await openFile()
    await createNotes(db)
    rmSync(`${path}.lock`)
    for (const id of ['the first time', 'with the lock that the first try left']) {
      await expect(openFile()).rejects.toBeInstanceOf(DatabaseInUse)
      await db.run(insertNote, { id, note: 'x' })
    }
    await db.close()
    const next = await openFile()
    expect(await next.all(notes, {})).toHaveLength(2)
    await next.close()
    expect(readdirSync(folder).sort()).toEqual(['guildhall.db', 'guildhall.db.lock'])
  })

  it('[O-DB-7] is known by its own name and not by another link to it', async () => {
    const db = await openFile()
    const link = join(folder, 'link.db')
    linkSync(path, link)
    await expect(openFileDatabase(link, { clock, log: silentLog })).rejects.toThrow('is in use')
    await db.close()
  })

  it('[O-DB-7] may be read while it is opened; only a new lock waits for the reader', async () => {
    await (await openFile()).close()
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('SELECT COUNT(*) FROM sqlite_schema')
    await (await openFile()).close()
    rmSync(`${path}.lock`)
    await expect(openFile()).rejects.toBeInstanceOf(DatabaseInUse)
    reader.close()
    await (await openFile()).close()
  })

  it('[O-DB-7] is readable by its owner only, as are the files beside it', async () => {
    const db = await openFile()
    await createNotes(db)
    for (const name of readdirSync(folder)) {
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    }
    expect(readdirSync(folder)).toContain('guildhall.db-wal')
    await db.close()
    expect(readdirSync(folder).sort()).toEqual(['guildhall.db', 'guildhall.db.lock'])
  })

  it('[O-DB-7] can be read, but not written, beside the process that serves it', async () => {
    const db = await openFile()
    await createNotes(db)
    await db.run(insertNote, { id: 'a', note: 'x' })
    const url = `sqlite:${path}`
    const common = { clock, log: silentLog, randomness: randomBytes }
    const beside = await openDatabase({ url, access: 'read', ...common })
    expect(await beside.all(notes, {})).toEqual([{ id: 'a' }])
    await beside.transaction(async (tx) => {
      const before = await tx.all(notes, {})
      const written = db.run(insertNote, { id: 'b', note: 'x' })
      expect(await tx.all(notes, {})).toEqual(before)
      written.catch(() => {})
    })
    await expect(beside.run(insertNote, { id: 'c', note: 'x' })).rejects.toThrow()
    await beside.close()
    await db.close()
    const alone = await openDatabase({ url, access: 'read', ...common })
    expect(await alone.all(notes, {})).toEqual([{ id: 'a' }, { id: 'b' }])
    await alone.close()
    const missing = `sqlite:${join(folder, 'missing.db')}`
    await expect(openDatabase({ url: missing, access: 'read', ...common })).rejects.toThrow()
    expect(readdirSync(folder)).not.toContain('missing.db')
  })

  it('[O-DB-1] is created when missing, but its folder is not', async () => {
    const url = `sqlite:${join(folder, 'missing', 'guildhall.db')}`
    await expect(
      openDatabase({ url, clock, log: silentLog, randomness: randomBytes }),
    ).rejects.toThrow('the folder of the database file does not exist')
  })

  it('[O-DSK-1] undoes what the disk has no room for, reads on, and recovers by a small write', async () => {
    const fake = createFakeClock()
    const db = await openFileDatabase(path, { clock: fake, log: silentLog })
    await createNotes(db)
    await db.run(insertNote, { id: 'before', note: 'x' })
    await db.schema.transaction((tx) => tx.ddl('PRAGMA max_page_count = 16'))
    const big = 'x'.repeat(200_000)
    await expect(
      db.transaction(async (tx) => {
        await tx.run(insertNote, { id: 'with-big', note: 'x' })
        await tx.run(insertNote, { id: 'big', note: big })
      }),
    ).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(db.state()).toBe('down')
    expect(await db.probe()).toBe(false)
    expect((await db.all(notes, {})).map((row) => row.id)).toEqual(['before'])
    await fake.advance(5000)
    expect(await db.probe()).toBe(true)
    expect(db.state()).toBe('up')
    await db.run(insertNote, { id: 'after', note: 'x' })
    expect((await db.all(notes, {})).map((row) => row.id)).toEqual(['after', 'before'])
    await db.close()
  })

  it('[O-FLT-3] is closed when a flush failed, and serves again once it could be opened anew', async () => {
    let failing = false
    const db = await openFileDatabase(path, {
      clock,
      log: silentLog,
      async openWal(databasePath) {
        const wal = await openWalFile(databasePath)
        return {
          close: wal.close,
          flush: () => (failing ? Promise.reject(new Error('EIO')) : wal.flush()),
        }
      },
    })
    await createNotes(db)
    await db.run(insertNote, { id: 'kept', note: 'x' })
    failing = true
    const unknown = [1, 2, 3].map((at) => db.run(insertNote, { id: `unknown-${at}`, note: 'x' }))
    for (const each of unknown) await expect(each).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(db.state()).toBe('down')
    await expect(db.all(notes, {})).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(db.transaction(async () => 1)).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(await db.probe()).toBe(false)
    failing = false
    expect(await db.probe()).toBe(true)
    expect(db.state()).toBe('up')
    await db.run(insertNote, { id: 'later', note: 'x' })
    const ids = (await db.all(notes, {})).map((row) => row.id)
    expect(ids).toEqual(expect.arrayContaining(['kept', 'later']))
    await db.close()
  })

  it('[O-FLT-3] lets go of its log when the rest of it cannot be opened', async () => {
    let closed = 0
    const away = `${folder}-away`
    const opening = openFileDatabase(path, {
      clock,
      log: silentLog,
      async openWal(databasePath) {
        const wal = await openWalFile(databasePath)
        renameSync(folder, away)
        return {
          flush: wal.flush,
          async close() {
            closed += 1
            await wal.close()
          },
        }
      },
    })
    await expect(opening).rejects.toThrow('ENOENT')
    renameSync(away, folder)
    expect(closed).toBe(1)
  })

  it('goes on when a flush ends while the next group is open', async () => {
    let release = () => {}
    const db = await openFileDatabase(path, {
      clock,
      log: silentLog,
      async openWal(databasePath) {
        const wal = await openWalFile(databasePath)
        return {
          close: wal.close,
          flush: () => new Promise((resolve) => (release = resolve)),
        }
      },
    })
    const created = createNotes(db)
    await new Promise(setImmediate)
    release()
    await created
    const first = db.run(insertNote, { id: 'first', note: 'x' })
    await new Promise(setImmediate)
    const second = db.run(insertNote, { id: 'second', note: 'x' })
    release()
    await first
    await new Promise(setImmediate)
    release()
    await second
    expect((await db.all(notes, {})).map((row) => row.id)).toEqual(['first', 'second'])
    await db.close()
  })

  it('keeps its log short under an unbroken load', async () => {
    const framesMax = 256
    const db = await openFileDatabase(path, { clock, log: silentLog, walFramesMax: framesMax })
    await createNotes(db)
    let written = 0
    let longest = 0
    const note = 'x'.repeat(1000)
    async function write(writer: number): Promise<void> {
      for (let at = 0; at < 500; at += 1) {
        await db.run(insertNote, { id: `${writer}-${at}`, note })
        written += note.length
        longest = Math.max(longest, statSync(`${path}-wal`).size)
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)))
    expect(written).toBe(8_000_000)
    // One group may overshoot; what was written would have made the log many times as long.
    expect(longest).toBeLessThan(4 * framesMax * 4096)
    expect((await db.all(notes, {})).length).toBe(8000)
    await db.close()
  })

  it('refuses a transaction that waits for something other than its own statements', async () => {
    const db = await openFile()
    await createNotes(db)
    const waiting = db.transaction(async (tx) => {
      await tx.run(insertNote, { id: 'slow', note: 'x' })
      await clock.sleep(1)
      await tx.run(insertNote, { id: 'slower', note: 'x' })
    })
    const other = db.run(insertNote, { id: 'other', note: 'x' })
    await expect(waiting).rejects.toThrow('waits for something other than its own statements')
    await other
    expect((await db.all(notes, {})).map((row) => row.id)).toEqual(['other'])
    await db.close()
  })

  it('[O-BAK-1] is copied as one state while it is written to', async () => {
    const db = await openFile()
    await createNotes(db)
    let writing = true
    async function write(): Promise<void> {
      for (let at = 0; writing; at += 1) {
        await db.transaction(async (tx) => {
          await tx.run(insertNote, { id: `a-${at}`, note: 'x'.repeat(500) })
          await tx.run(insertNote, { id: `b-${at}`, note: 'x'.repeat(500) })
        })
      }
    }
    const writer = write()
    await clock.sleep(20)
    const to = join(folder, 'copy.db')
    await backUpFile({ from: path, to })
    await expect(backUpFile({ from: path, to })).rejects.toThrow('exists')
    writing = false
    await writer
    await db.close()
    expect(statSync(to).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual(['copy.db'])
    const copy = await openFileDatabase(to, { clock, log: silentLog })
    const ids = (await copy.all(notes, {})).map((row) => row.id)
    expect(ids.length).toBeGreaterThan(0)
    expect(ids.filter((id) => id.startsWith('a')).length * 2).toBe(ids.length)
    await copy.close()
  })
})

it('[O-DB-1] a URL of no known form is refused with a message that names the three forms', async () => {
  for (const url of ['mysql://root:secret@localhost/x', 'sqlite:', 'guildhall.db', '']) {
    const opening = openDatabase({ url, clock, log: silentLog, randomness: randomBytes })
    await expect(opening).rejects.toThrow(/memory:.*sqlite:PATH.*postgres:\/\//)
    await expect(opening).rejects.not.toThrow('secret')
  }
})

function openFile(): Promise<OpenedDatabase> {
  return openDatabase({ url: `sqlite:${path}`, clock, log: silentLog, randomness: randomBytes })
}

async function createNotes(db: OpenedDatabase): Promise<void> {
  await db.schema.transaction((tx) => {
    return tx.ddl('CREATE TABLE notes (id TEXT NOT NULL PRIMARY KEY, note TEXT NOT NULL) STRICT')
  })
}

function startCrashChild(databasePath: string): ChildProcess {
  const program = fileURLToPath(new URL('../testing/crash-child.ts', import.meta.url))
  return spawn(process.execPath, [program, `sqlite:${databasePath}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function linesUntil(child: ChildProcess, count: number): Promise<string[]> {
  const lines: string[] = []
  if (!child.stdout) return lines
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the writing process ended')))
    let rest = ''
    child.stdout?.setEncoding('utf8').on('data', function collect(chunk: string) {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      if (lines.length < count) return
      child.stdout?.off('data', collect)
      child.removeAllListeners('exit')
      resolve(lines)
    })
  })
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  const lines: string[] = []
  if (child.stdout) for await (const line of createInterface(child.stdout)) lines.push(line)
  // The first line may be the second half of one that was read before.
  return lines.slice(1)
}

const insertNote = statement({
  name: 'file-test.insert-note',
  text: 'INSERT INTO notes (id, note) VALUES (:id, :note)',
  params: { id: 'text', note: 'text' },
})

const notes = statement({
  name: 'file-test.notes',
  text: 'SELECT id FROM notes ORDER BY id',
  row: { id: 'text' },
})

const acknowledgedIds = statement({
  name: 'file-test.acknowledged',
  text: 'SELECT id FROM acknowledged',
  row: { id: 'text' },
})
