import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { DatabaseUnavailable } from '../../database.ts'
import { Checkpoints, logBytesMax } from '../commits/checkpoints.ts'
import { GroupCommits } from '../commits/group-commits.ts'
import { SqliteConnection } from '../connection.ts'
import { LookupCache } from '../lookup-cache.ts'
import { LongReads } from '../reads/long-reads.ts'
import { Writer } from '../writer.ts'
import { identityOf } from './same-file.ts'
import { flushFolderOf, openWalFile, type WalFile } from './wal-file.ts'

/** Stands in the header of every database file of the product. */
export const applicationId = 1_195_918_404

export type FileStoreDeps = {
  path: string
  clock: Clock
  log: Log
  /** Whether `path` still leads to the file. */
  isInPlace: () => boolean
  /** For tests: the length of the log at which writers wait, in pages. */
  walFramesMax?: number
  /** For tests: a log whose flushes fail. */
  openWal?: (databasePath: string) => Promise<WalFile>
  onDiskFull: () => void
  onFailure: (error: unknown) => void
}

/** The open connections of one database file. After a failure they are closed and made anew. */
export type FileStore = {
  readonly reader: SqliteConnection
  readonly writer: Writer
  readonly cache: LookupCache
  readonly longReads: LongReads
  /** Whether the log and its index are still the files beside the database. */
  hasItsLog(): boolean
  close(): Promise<void>
}

export async function openFileStore(deps: FileStoreDeps): Promise<FileStore> {
  const { path, clock, log } = deps
  const nowUnixMs = clock.nowUnixMs
  // What is opened is closed in the opposite order, at the end or when the next thing fails. The
  // last connection to close moves the rest of the log into the file and removes it.
  await using opened = new AsyncDisposableStack()
  const connection = opened.adopt(new SqliteConnection(path, { nowUnixMs }), close)
  connection.exec(writerPragmas(deps.walFramesMax))
  // The log exists from the first transaction on.
  connection.exec(`BEGIN IMMEDIATE; PRAGMA application_id = ${applicationId}; COMMIT`)
  const reader = opened.adopt(new SqliteConnection(path, { readOnly: true, nowUnixMs }), close)
  const isLog = identityOf(`${path}-wal`)
  const isIndex = identityOf(`${path}-shm`)
  opened.defer(() => {
    if (!isLog() || !deps.isInPlace()) writeBack(connection, log)
  })
  const wal = opened.adopt(await (deps.openWal ?? openWalFile)(path), close)
  // The log is a new file at every start, and a flush of it does not keep its name.
  flushFolderOf(path)
  const { walFramesMax } = deps
  const bounds = walFramesMax === undefined ? {} : { framesMax: walFramesMax }
  const checkpoints = new Checkpoints({ path, connection, clock, log }, bounds)
  opened.adopt(checkpoints, close)
  const longReads = opened.adopt(LongReads.ofFile(path, nowUnixMs), close)
  const commits = new GroupCommits({
    connection,
    wal,
    held: () => checkpoints.held,
    onCommitted() {
      cache.settled()
      checkpoints.committed()
    },
    onDiskFull: deps.onDiskFull,
    onFailure: deps.onFailure,
  })
  opened.defer(() => commits.settled())
  const writer = new Writer(connection, commits)
  opened.defer(() => writer.drained())
  const cache = new LookupCache(connection, writer)
  const all = opened.move()
  const hasItsLog = () => isLog() && isIndex()
  return { reader, writer, cache, longReads, hasItsLog, close: () => all.disposeAsync() }
}

/**
 * With names that lead elsewhere SQLite leaves the log as it is when it closes. What the log holds
 * goes into the file now: nobody would find it, or find it beside another database.
 */
function writeBack(connection: SqliteConnection, log: Log): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    log.warn('the log of the database file could not be written back', { error })
  }
}

function close(opened: { close(): void | Promise<void> }): void | Promise<void> {
  return opened.close()
}

/**
 * The file behind links, so that every process finds the same lock beside it.
 *
 * @throws DatabaseUnavailable when there is no folder in which it could be created
 */
export function resolvedPath(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(path)
  if (!existsSync(folder)) {
    throw new DatabaseUnavailable(`the folder of the database file does not exist: ${folder}`)
  }
  return join(realpathSync(folder), basename(path))
}

/**
 * synchronous = NORMAL makes SQLite itself wait for the disk only when it starts the log anew; the
 * flush after each group of commits, without which no caller is answered, is ours. What it keeps to
 * undo a unit of work is in cache; beyond 64 KiB it would be a file, a fifth of a login's time. So
 * is what it sorts, on this connection only: an index that a migration adds, for instance. A log
 * that is started anew keeps its length, unless a pinned reader has made it far too long: SQLite
 * cuts it in the middle of a commit, on this thread, and it would only grow again.
 */
const writerPragmas = (walFramesMax?: number) => `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = ${logBytesMax(walFramesMax)};
  PRAGMA foreign_keys = ON;
  PRAGMA temp_store = MEMORY;
`
