import { close, closeSync, fdatasync, fsyncSync, open, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** The write-ahead log beside a database file, as far as flushing it to disk goes. */
export type WalFile = {
  /**
   * Resolves once everything written to the log before this call is on disk. At most `flushesMax`
   * may run at once.
   */
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
  const openOne = () => openFile(`${databasePath}-wal`, 'r+')
  const all = await Promise.all(Array.from({ length: flushesMax }, openOne))
  const free = [...all]
  let running: Promise<unknown>[] = []

  async function flush(): Promise<void> {
    const descriptor = free.pop()
    if (descriptor === undefined) throw new Error('more flushes than descriptors')
    try {
      await flushFile(descriptor)
    } finally {
      free.push(descriptor)
    }
  }

  return {
    flush() {
      const flushed = flush()
      running = [...running.slice(1 - flushesMax), flushed.catch(() => {})]
      return flushed
    },
    async close() {
      await Promise.all(running)
      await Promise.all(all.map((descriptor) => closeFile(descriptor)))
    },
  }
}

/**
 * Flushes under way at the most. Each has a descriptor of its own: Linux reports a failed write
 * once to every opening of a file, so two flushes on one could hide it from the one that it
 * concerns.
 */
export const flushesMax = 2

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
