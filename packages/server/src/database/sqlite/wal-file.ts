import { close, closeSync, fdatasync, fsyncSync, open, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** The write-ahead log beside a database file, as far as flushing it to disk goes. */
export type WalFile = {
  /** Resolves once everything written to the log before this call is on disk. */
  flush(): Promise<void>
  close(): Promise<void>
}

const openFile = promisify(open)
const closeFile = promisify(close)
const flushFile = promisify(fdatasync)

/**
 * Opens the log for flushing by libuv's threads. SQLite keeps no POSIX lock on this file, so an own
 * descriptor does no harm here. On the database file or its index it would: closing it would drop
 * the locks that SQLite holds in this process.
 */
export async function openWalFile(databasePath: string): Promise<WalFile> {
  const descriptor = await openFile(`${databasePath}-wal`, 'r+')
  return {
    flush: () => flushFile(descriptor),
    close: () => closeFile(descriptor),
  }
}

/** Makes the names of newly created files in `path`'s folder survive a power failure. */
export function flushFolderOf(path: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(dirname(path), 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
