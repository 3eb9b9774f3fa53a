import pg from 'pg'
import { DatabaseUnavailable, StatementTimeout, UniqueViolation } from '../database.ts'

/** The connection is gone, and with it the answers of all statements that were under way on it. */
export class ConnectionLost extends DatabaseUnavailable {}

/** The server's own SQLSTATE, or undefined when the error is not the server's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether the server says with this error that it ends the connection, or never opened it. */
export function endsConnection(state: string): boolean {
  return state.startsWith('08') || endingStates.has(state)
}

/** What callers see: known states become the classes of `database.ts`, the rest stays as it is. */
export function classified(error: unknown): unknown {
  const state = sqlState(error)
  if (state === undefined) return error
  if (state === '23505') return new UniqueViolation('a row with this key exists', { cause: error })
  if (state === '57014') return new StatementTimeout('a statement took too long', { cause: error })
  if (isUnavailable(state)) {
    return new DatabaseUnavailable('the database refuses its service', { cause: error })
  }
  return error
}

/** Whether the error says something about the server or the way to it, not about the statement. */
export function isConnectionClass(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  const state = sqlState(error)
  return state !== undefined && isUnavailable(state)
}

/** Serialization failure or deadlock: the whole transaction may be run again. */
export function isContention(error: unknown): boolean {
  const state = sqlState(error)
  return state === '40001' || state === '40P01'
}

/** Whether waiting may help a start: not for a refused login, an unknown database or a bad name. */
export function isUnreachable(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? error instanceof ConnectionLost : isUnavailable(state)
}

/**
 * Connection exceptions, a server that is out of a resource, one that shuts down or starts up, and
 * one that has become read-only.
 */
function isUnavailable(state: string): boolean {
  return endsConnection(state) || state.startsWith('53') || unavailableStates.has(state)
}

const endingStates = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25P03'])
const unavailableStates = new Set(['58030', '25006'])
