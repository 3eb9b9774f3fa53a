import {
  chmodSync,
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { flushFolderOf } from './wal-file.ts'

type BackupOptions = {
  from: string
  to: string
  /** Replaces `to`, but never the database, a file beside it, or a symbolic link. */
  force?: boolean
}

/** Thrown for a target that a backup must not touch; the message is for the operator. */
export class BackupRefused extends Error {
  override readonly name = 'BackupRefused'
}

/**
 * Copies a database file, also while a node serves it, as one state between two transactions. The
 * copy is checked and flushed under a temporary name before it gets its own, so a failure leaves
 * `to` as it was.
 *
 * @throws BackupRefused
 */
export async function backUpFile({ from, to, force = false }: BackupOptions): Promise<void> {
  expectSafeTarget({ from, to, force })
  const temporary = `${to}.partial-${process.pid}`
  rmSync(temporary, { force: true })
  closeSync(openSync(temporary, 'wx', 0o600))
  chmodSync(temporary, 0o600)
  try {
    await copy(from, temporary)
    checkIntegrity(temporary)
    flush(temporary)
    // Somebody may have put a link there meanwhile; a rename replaces the link, not its target.
    if (!force && existsSync(to)) throw new BackupRefused(`${to} exists`)
    renameSync(temporary, to)
    flushFolderOf(to)
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) {
      rmSync(`${temporary}${suffix}`, { force: true })
    }
    throw error
  }
}

/**
 * Copies the file to `NAME.before-<schema version>` beside it and keeps the newest two of these.
 */
export async function backUpBeforeMigration(path: string, version: number): Promise<void> {
  await backUpFile({ from: path, to: `${path}.before-${version}`, force: true })
  const prefix = `${basename(path)}.before-`
  const versions = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => b - a)
  for (const old of versions.slice(2)) rmSync(`${path}.before-${old}`)
}

/** Throws unless the file at `path` is a sound SQLite database; makes it one file without a log. */
export function checkIntegrity(path: string): void {
  const connection = new DatabaseSync(path)
  try {
    // A copy of a database in WAL mode is in WAL mode; a backup is one file and has no log.
    connection.exec('PRAGMA journal_mode = DELETE')
    const { integrity_check } = connection.prepare('PRAGMA integrity_check').get() ?? {}
    if (integrity_check !== 'ok') throw new Error(`${path} fails its integrity check`)
  } finally {
    connection.close()
  }
}

/** Makes what a file holds survive a power failure. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The files that belong to a database: itself, its log, and the lock beside it. */
export function filesOf(database: string): string[] {
  return ['', '-wal', '-shm', '-journal', '.lock'].map((suffix) => database + suffix)
}

function expectSafeTarget({ from, to, force }: Required<BackupOptions>): void {
  const folder = dirname(to)
  if (!existsSync(folder)) throw new BackupRefused(`the folder ${folder} does not exist`)
  const target = join(realpathSync(folder), basename(to))
  if (filesOf(realpathSync(from)).includes(target)) {
    throw new BackupRefused(`${to} belongs to the database itself`)
  }
  const found = lstatSync(to, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isSymbolicLink()) throw new BackupRefused(`${to} is a symbolic link`)
  if (!found.isFile()) throw new BackupRefused(`${to} is not a file`)
  // Another name of the same file.
  const source = statSync(from)
  if (found.ino === source.ino && found.dev === source.dev) {
    throw new BackupRefused(`${to} belongs to the database itself`)
  }
  if (!force) throw new BackupRefused(`${to} exists; --force replaces it`)
}

/**
 * Step by step, each flushed and followed by a pause: a disk that is kept busy by a large copy, or
 * gets all of it at its end, lets the commits of the node that serves the file wait.
 */
async function copy(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true })
  const descriptor = openSync(to, 'r+')
  try {
    // A read transaction pins the state, so that commits meanwhile do not restart the copy.
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    const pause = new Int32Array(new SharedArrayBuffer(4))
    const progress = () => {
      fdatasyncSync(descriptor)
      Atomics.wait(pause, 0, 0, pauseMs)
    }
    await backup(source, to, { rate: pagesPerStep, progress })
  } finally {
    closeSync(descriptor)
    source.close()
  }
}

/** 512 KiB; a GiB takes some ten seconds. */
const pagesPerStep = 128
const pauseMs = 3
