import { DatabaseUnavailable, UniqueViolation } from '../database.ts'

/** SQLite's own result code, or undefined when `error` did not come from SQLite. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/** What callers see: known codes become the classes of `database.ts`, the rest stays as it is. */
export function classified(error: unknown): unknown {
  const code = resultCode(error)
  if (code === undefined) return error
  if (uniquenessCodes.has(code))
    return new UniqueViolation('a row with this key exists', { cause: error })
  if (unavailableCodes.has(code & 0xff)) {
    return new DatabaseUnavailable('the database file cannot be used', { cause: error })
  }
  return error
}

/** Whether a write was refused for lack of space: reads and the connection are still good. */
export function isDiskFull(error: unknown): boolean {
  return primaryCode(error instanceof DatabaseUnavailable ? error.cause : error) === 13
}

/** Whether another process, or another connection, is in the way. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error) === 5
}

function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error)
  return code === undefined ? undefined : code & 0xff
}

/** SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID. */
const uniquenessCodes = new Set([1555, 2067, 2579])

/** SQLITE_PERM, BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL and NOTADB. */
const unavailableCodes = new Set([3, 5, 6, 8, 10, 11, 13, 14, 15, 26])
