import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { flushFolderOf } from './wal-file.ts'

type BackupOptions = { from: string; to: string; force?: boolean }

/**
 * Copies a database file, also while a node serves it, as one state between two transactions. The
 * copy is checked and flushed under a temporary name before it gets its own.
 */
export async function backUpFile({ from, to, force = false }: BackupOptions): Promise<void> {
  if (!force && existsSync(to)) throw new Error(`${to} exists`)
  const temporary = `${to}.partial`
  rmSync(temporary, { force: true })
  closeSync(openSync(temporary, 'wx', 0o600))
  chmodSync(temporary, 0o600)
  try {
    await copy(from, temporary)
    checkIntegrity(temporary)
    flush(temporary)
    renameSync(temporary, to)
    flushFolderOf(to)
  } catch (error) {
    rmSync(temporary, { force: true })
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

/** Throws unless the file at `path` is a sound SQLite database. */
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

async function copy(from: string, to: string): Promise<void> {
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    // A read transaction pins the state, so that commits meanwhile do not restart the copy.
    source.exec('BEGIN')
    source.prepare('SELECT count(*) FROM sqlite_schema').get()
    await backup(source, to, { rate: pagesPerStep })
  } finally {
    source.close()
  }
}

const pagesPerStep = 512

function flush(path: string): void {
  const descriptor = openSync(path, 'r+')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
