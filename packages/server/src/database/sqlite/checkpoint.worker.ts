import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Moves pages from the write-ahead log into the database file, and waits for the disk, on a thread
 * of its own with a connection of its own. PASSIVE: it never makes a reader or writer wait.
 */
const connection = new DatabaseSync(String(workerData), { timeout: 0 })
connection.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0')
const checkpoint = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)')

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
  if (message === 'close') {
    connection.close()
    parentPort?.close()
    return
  }
  try {
    checkpoint.get()
    parentPort?.postMessage(null)
  } catch (error) {
    parentPort?.postMessage(error instanceof Error ? error.message : String(error))
  }
})
