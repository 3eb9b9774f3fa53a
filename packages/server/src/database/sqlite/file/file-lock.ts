import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../errors.ts'
import { createIfMissing } from './owned-file.ts'

/** Thrown when another serving process owns the database file. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
}

export type FileLock = { release(): void }

/**
 * Takes the lock beside a database file: an exclusive transaction on a small SQLite file of its
 * own. The operating system drops it when the process ends, however it ends, and it does not
 * disturb those who only read the database.
 *
 * A lock file that nobody has owned yet proves nothing: somebody may have removed the one that the
 * serving process holds. Such a one is only taken while nobody at all has the database open.
 */
export function lockFile(databasePath: string): FileLock {
  const path = `${databasePath}.lock`
  createIfMissing(path)
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    lock.exec(take)
    if (!wasOwned(lock)) {
      expectNobodyInside(databasePath)
      // Who takes it between the two proves as much as we do, and is who owns the database then.
      lock.exec(`PRAGMA user_version = ${owned}; COMMIT; ${take}`)
    }
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

const take = 'BEGIN EXCLUSIVE'
/** The number in the header of a lock file that a serving process has owned. */
const owned = 1

function wasOwned(lock: DatabaseSync): boolean {
  return lock.prepare('PRAGMA user_version').get()?.user_version === owned
}

/** Opens the database for ourselves alone, for which everybody else must have closed it. */
function expectNobodyInside(databasePath: string): void {
  if (!existsSync(databasePath)) return
  let probe: DatabaseSync | undefined
  try {
    probe = new DatabaseSync(databasePath, { timeout: insideWaitMs })
    probe.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT COUNT(*) FROM sqlite_schema')
  } catch (error) {
    // Whatever else is wrong with it shows when it is opened.
    if (isBusy(error)) throw error
  } finally {
    probe?.close()
  }
}

/** How long a backup or a doctor may take to leave, in milliseconds. */
const insideWaitMs = 2000
