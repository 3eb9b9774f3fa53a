import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createSystemClock } from '../../../kernel/clock.ts'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../../migrations/migrate.ts'
import { openDatabase } from '../../open.ts'
import { fastFolder } from '../../testing/fast-folder.ts'
import { silentLog } from '../../testing/silent-log.ts'
import { testVersion } from '../../testing/template.ts'
import { backUpFile } from './backup.ts'
import { DatabaseInUse } from './file-lock.ts'
import { restoreFile } from './restore.ts'

const clock = createSystemClock()
/** Of one file, which starts in a fifth of the time: some thirty of them are killed here. */
let killedStep: string
let folder: string
/** The database, and a backup of an earlier state of it. */
let path: string
let copy: string

beforeAll(async () => {
  const built = mkdtempSync(join(tmpdir(), 'guildhall-killed-step-'))
  killedStep = join(built, 'killed-step.mjs')
  const entry = fileURLToPath(new URL('./killed-step.fixture.ts', import.meta.url))
  await build({
    ...{ entryPoints: [entry], outfile: killedStep, bundle: true },
    ...{ platform: 'node', format: 'esm', logLevel: 'warning' },
  })
  return () => rmSync(built, { recursive: true })
})

beforeEach(async () => {
  folder = mkdtempSync(join(fastFolder(), 'guildhall-restore-'))
  path = join(folder, 'guildhall.db')
  copy = join(folder, 'copy.db')
  cpSync(inject('sqliteTemplate'), path)
  await (await opened()).close()
  await note('early')
  await backUpFile({ from: path, to: copy })
  await note('late')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function opened() {
  const db = await openDatabase({
    url: `sqlite:${path}`,
    clock,
    log: silentLog,
    randomness: randomBytes,
  })
  await migrate(db, { version: testVersion, clock, log: silentLog, holder: 'tests' })
  return db
}

/** Leaves a mark and a session. */
async function note(name: string): Promise<void> {
  const db = new DatabaseSync(path)
  db.exec(`INSERT INTO totals (name, total) VALUES ('${name}', 1)`)
  db.exec(`INSERT INTO sessions (id, account_id, access_digest, refresh_digest, created_at_unix_ms,
    access_expires_at_unix_ms, refresh_expires_at_unix_ms)
    VALUES ('${name}', 'ana', x'${Buffer.from(name).toString('hex')}', x'00', 1, 1, 1)`)
  db.close()
}

function notes(of = path): string[] {
  const db = new DatabaseSync(of, { readOnly: true })
  const rows = db.prepare('SELECT name FROM totals ORDER BY name').all()
  db.close()
  return rows.map(({ name }) => String(name))
}

const restore = (more: Partial<Parameters<typeof restoreFile>[0]> = {}) =>
  restoreFile({
    from: copy,
    to: path,
    nowUnixMs: clock.nowUnixMs(),
    schemaVersion: migrations.length,
    keepSessions: false,
    ...more,
  })

describe('a restore', () => {
  it('[O-BAK-2] [O-BAK-3] replaces the file, keeps the old one, and ends sessions', async () => {
    const { replaced, ...rest } = restore()
    expect(rest).toEqual({ path, schema_version: migrations.length, sessions_ended: 1 })
    expect(notes()).toEqual(['early'])
    expect(notes(String(replaced))).toEqual(['early', 'late'])
    expect(replaced).toMatch(/guildhall\.db\.replaced-\d{8}T\d{6}\.\d{3}Z$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const left = readdirSync(folder).filter((name) => /-wal|-shm|-journal|restoring/.test(name))
    expect(left).toEqual([])
    await (await opened()).close()
    restore({ keepSessions: true })
    const db = new DatabaseSync(path, { readOnly: true })
    expect(db.prepare('SELECT revoked_at_unix_ms AS at FROM sessions').all()).toEqual([
      { at: null },
    ])
    db.close()
  })

  it('[O-BAK-2] keeps what only the log of the old file holds, and makes a file where there is none', () => {
    const killed = `const { DatabaseSync } = require('node:sqlite')
      const db = new DatabaseSync(${JSON.stringify(path)})
      db.exec("PRAGMA journal_mode = WAL; INSERT INTO totals (name, total) VALUES ('logged', 1)")
      process.kill(process.pid, 'SIGKILL')`
    spawnSync(process.execPath, ['-e', killed])
    expect(existsSync(`${path}-wal`)).toBe(true)
    expect(notes(String(restore().replaced))).toEqual(['early', 'late', 'logged'])
    expect(existsSync(`${path}-wal`)).toBe(false)
    const elsewhere = join(folder, 'new.db')
    expect(restore({ to: elsewhere })).toMatchObject({ path: elsewhere, replaced: null })
    expect(notes(elsewhere)).toEqual(['early'])
  })

  it('[O-BAK-2] follows links to the file, and replaces one that is broken', () => {
    const link = join(folder, 'link.db')
    symlinkSync(path, link)
    expect(restore({ to: link }).path).toBe(path)
    writeFileSync(path, randomBytes(20_000))
    const { replaced } = restore()
    expect(readFileSync(String(replaced))).toHaveLength(20_000)
    expect(notes()).toEqual(['early'])
  })

  it('[O-BAK-2] refuses what is no sound backup of this program, and changes nothing', () => {
    const before = readFileSync(path)
    const other = join(folder, 'other.db')
    const refused = (says: string, from = other, more = {}) => {
      expect(() => restore({ from, ...more })).toThrow(says)
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([])
    }
    refused('does not exist')
    mkdirSync(other)
    refused('is not a file')
    rmSync(other, { recursive: true })
    writeFileSync(other, 'no database at all')
    refused('is not a database')
    rmSync(other)
    const foreign = new DatabaseSync(other)
    foreign.exec('CREATE TABLE schema_migrations (number INTEGER)')
    foreign.close()
    refused('is not a Guildhall database')
    const [newest, older] = [migrations.length, migrations.length - 1]
    const says = `has schema version ${newest}, and this binary knows ${older}`
    refused(says, copy, { schemaVersion: older })
    refused('belongs to the database itself', path)
    const bytes = readFileSync(copy)
    bytes.fill(0xff, 8192, 60_000)
    writeFileSync(copy, bytes)
    refused('fails its integrity check', copy)
  })

  it('[O-BAK-2] needs the file for itself', async () => {
    const db = await opened()
    expect(() => restore()).toThrow(DatabaseInUse)
    await db.close()
    const looking = new DatabaseSync(path)
    looking.exec('PRAGMA journal_mode = WAL')
    looking.exec('BEGIN')
    looking.prepare('SELECT count(*) FROM totals').get()
    expect(() => restore()).toThrow(DatabaseInUse)
    looking.close()
    expect(notes()).toEqual(['early', 'late'])
    expect(restore().replaced).not.toBeNull()
  })

  it('[O-BAK-2] killed before any of its steps leaves the old file or the restored one', () => {
    const before = join(folder, 'before.db')
    renameSync(path, before)
    let steps = 0
    let signal: string | null = 'SIGKILL'
    for (; signal !== null && steps < 60; steps += 1) {
      rmSync(path, { force: true })
      cpSync(before, path)
      const run = spawnSync(process.execPath, [
        killedStep,
        'restore',
        copy,
        path,
        String(steps + 1),
      ])
      signal = run.signal
      expect([run.stderr.toString(), ['early', 'early late']]).toEqual([
        '',
        expect.arrayContaining([notes().join(' ')]),
      ])
    }
    expect(steps).toBeGreaterThan(6)
  }, 120_000)
})

describe('a backup', () => {
  it('[O-BAK-1] refuses the database, what belongs to it, links, folders and files that exist', async () => {
    const refused = async (to: string, says: string) => {
      await expect(backUpFile({ from: path, to, force: true })).rejects.toThrow(says)
    }
    for (const suffix of ['', '-wal', '-shm', '-journal', '.lock']) {
      await refused(path + suffix, 'belongs to the database itself')
    }
    const same = join(folder, 'same.db')
    linkSync(path, same)
    await refused(same, 'belongs to the database itself')
    const link = join(folder, 'link.db')
    symlinkSync(copy, link)
    await refused(link, 'is a symbolic link')
    await refused(folder, 'is not a file')
    await refused(join(folder, 'nowhere', 'x.db'), 'does not exist')
    await expect(backUpFile({ from: path, to: copy })).rejects.toThrow('exists')
    expect(notes(copy)).toEqual(['early'])
    await backUpFile({ from: path, to: copy, force: true })
    expect(notes(copy)).toEqual(['early', 'late'])
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  it('[O-BAK-1] leaves the target as it was when the disk is full or the source is broken', async () => {
    const before = readFileSync(copy)
    const command = `trap '' XFSZ; ulimit -f 40; exec "$0" "$@"`
    const run = spawnSync('sh', ['-c', command, process.execPath, killedStep, 'backup', path, copy])
    expect(run.status).toBe(1)
    expect(readFileSync(copy).equals(before)).toBe(true)
    const bytes = readFileSync(path)
    bytes.fill(0xff, 8192, 60_000)
    writeFileSync(path, bytes)
    await expect(backUpFile({ from: path, to: copy, force: true })).rejects.toThrow()
    expect(readFileSync(copy).equals(before)).toBe(true)
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([])
  })

  it('[O-BAK-1] killed before any of its steps leaves the target whole, old or new', () => {
    let signal: string | null = 'SIGKILL'
    let steps = 0
    for (; signal !== null && steps < 60; steps += 1) {
      const run = spawnSync(process.execPath, [killedStep, 'backup', path, copy, String(steps + 1)])
      signal = run.signal
      expect(['early', 'early late']).toContain(notes(copy).join(' '))
    }
    expect(notes(copy)).toEqual(['early', 'late'])
    expect(steps).toBeGreaterThan(3)
  }, 120_000)
})
