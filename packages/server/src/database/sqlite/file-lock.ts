import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './errors.ts'

/** Thrown when another serving process owns the database file. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
}

export type FileLock = { release(): void }

/**
 * Takes the lock beside a database file: an exclusive transaction on a small SQLite file of its
 * own. The operating system drops it when the process ends, however it ends, and it does not
 * disturb those who only read the database.
 */
export function lockFile(databasePath: string): FileLock {
  const lock = new DatabaseSync(`${databasePath}.lock`, { timeout: 0 })
  try {
    // Nothing is ever written, so there is nothing that a journal file could undo.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    chmodSync(`${databasePath}.lock`, 0o600)
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new DatabaseInUse(`${databasePath} is in use by another process`, { cause: error })
  }
  return {
    release() {
      if (lock.isOpen) lock.close()
    },
  }
}
