import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../errors.ts'
import { checkIntegrity, filesOf, flush } from './backup.ts'
import { DatabaseInUse, lockFile } from './file-lock.ts'
import { applicationId, resolvedPath } from './file-store.ts'
import { flushFolderOf } from './wal-file.ts'

export type RestoreOptions = {
  /** A backup; it is only read. */
  from: string
  /** The database file that it replaces, or becomes. */
  to: string
  nowUnixMs: number
  /** The newest migration that this binary knows. */
  schemaVersion: number
  keepSessions: boolean
}

export type Restored = {
  /** The file behind links. */
  path: string
  schema_version: number
  sessions_ended: number
  /** Where the old file is; null where there was none. */
  replaced: string | null
}

/** Thrown for a backup that cannot be restored; the message is for the operator. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

/**
 * Puts a backup in the place of a database that nothing uses. What is restored is prepared and
 * checked beside the old file and gets its name by one rename: at every instant the name means the
 * old file or the restored one, whole. The old one is kept.
 *
 * @throws RestoreRefused
 * @throws DatabaseInUse
 */
export function restoreFile(options: RestoreOptions): Restored {
  const { from, nowUnixMs } = options
  const path = resolvedPath(options.to)
  expectBackup(from, path)
  const lock = lockFile(path)
  const prepared = `${path}.restoring-${process.pid}`
  try {
    const facts = prepare(prepared, options)
    const replaced = existsSync(path) ? keepOld(path, nowUnixMs) : null
    renameSync(prepared, path)
    flushFolderOf(path)
    return { path, ...facts, replaced }
  } finally {
    for (const left of filesOf(prepared)) rmSync(left, { force: true })
    lock.release()
  }
}

/** Whether the file may be read at all, and is none of those that are to be replaced. */
function expectBackup(from: string, path: string): void {
  if (!existsSync(from)) throw new RestoreRefused(`${from} does not exist`)
  if (!statSync(from).isFile()) throw new RestoreRefused(`${from} is not a file`)
  if (filesOf(path).includes(realpathSync(from))) {
    throw new RestoreRefused(`${from} belongs to the database itself`)
  }
  const header = Buffer.alloc(16)
  const descriptor = openSync(from, 'r')
  try {
    readSync(descriptor, header, 0, header.length, 0)
  } finally {
    closeSync(descriptor)
  }
  if (header.toString('latin1') !== 'SQLite format 3\0') {
    throw new RestoreRefused(`${from} is not a database`)
  }
}

/** Makes a sound copy of the backup, with its sessions ended, and has it on the disk. */
function prepare(prepared: string, options: RestoreOptions) {
  const { from } = options
  copyPrivately(from, prepared)
  // A file that was copied together with its log: the log is part of it.
  if (existsSync(`${from}-wal`)) copyPrivately(`${from}-wal`, `${prepared}-wal`)
  try {
    checkIntegrity(prepared)
  } catch (error) {
    throw new RestoreRefused(`${from} fails its integrity check`, { cause: error })
  }
  const connection = new DatabaseSync(prepared)
  try {
    const schema_version = schemaVersionOf(connection, options)
    const ended = options.keepSessions ? 0 : endSessions(connection, options.nowUnixMs)
    return { schema_version, sessions_ended: ended }
  } finally {
    connection.close()
    flush(prepared)
  }
}

function copyPrivately(from: string, to: string): void {
  rmSync(to, { force: true })
  closeSync(openSync(to, 'wx', 0o600))
  copyFileSync(from, to)
  chmodSync(to, 0o600)
}

function schemaVersionOf(connection: DatabaseSync, { from, schemaVersion }: RestoreOptions) {
  const { application_id } = connection.prepare('PRAGMA application_id').get() ?? {}
  const [table] = connection
    .prepare(`SELECT name FROM sqlite_schema WHERE name = 'schema_migrations'`)
    .all()
  if (application_id !== applicationId || table === undefined) {
    throw new RestoreRefused(`${from} is not a Guildhall database`)
  }
  const newest = connection.prepare('SELECT MAX(number) AS number FROM schema_migrations').get()
  const version = Number(newest?.number ?? 0)
  if (version > schemaVersion) {
    throw new RestoreRefused(
      `${from} has schema version ${version}, and this binary knows ${schemaVersion}`,
    )
  }
  return version
}

/** Tokens that were issued before the backup would be good again. */
function endSessions(connection: DatabaseSync, nowUnixMs: number): number {
  const { changes } = connection
    .prepare('UPDATE sessions SET revoked_at_unix_ms = ? WHERE revoked_at_unix_ms IS NULL')
    .run(nowUnixMs)
  return Number(changes)
}

/**
 * Gives the old file a second name. What its log holds is moved into it first, since a log that
 * stays beside the name would be taken for that of the restored file. A file that is no database
 * any more is kept with its log.
 */
function keepOld(path: string, nowUnixMs: number): string {
  const time = new Date(nowUnixMs).toISOString().replaceAll(/[-:]/g, '')
  const kept = `${path}.replaced-${time}`
  const isSound = foldLog(path)
  const log = `${path}-wal`
  if (!isSound && existsSync(log)) copyPrivately(log, `${kept}-wal`)
  nameAlso(path, kept)
  flushFolderOf(path)
  for (const left of [log, `${path}-shm`, `${path}-journal`]) rmSync(left, { force: true })
  return kept
}

/** False when SQLite does not take the file for a database. */
function foldLog(path: string): boolean {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(path, { timeout: leaveWaitMs })
    connection.exec('PRAGMA journal_mode = DELETE')
  } catch (error) {
    // A doctor or a backup that still looks into it needs its log.
    if (isBusy(error)) {
      throw new DatabaseInUse(`${path} is in use by another process`, { cause: error })
    }
    return false
  } finally {
    if (connection?.isOpen) connection.close()
  }
  flush(path)
  return true
}

/** How long a backup or a doctor may take to leave, in milliseconds. */
const leaveWaitMs = 2000

/** A hard link; a copy where the file system knows none. */
function nameAlso(path: string, kept: string): void {
  try {
    linkSync(path, kept)
  } catch {
    copyPrivately(path, kept)
    flush(kept)
  }
}
