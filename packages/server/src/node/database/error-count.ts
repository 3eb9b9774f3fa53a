import {
  DatabaseContention,
  DatabaseUnavailable,
  StatementTimeout,
  UniqueViolation,
} from '../../database/database.ts'
import type { OpenedDatabase } from '../../database/migrations/schema-access.ts'
import type { Awaitable } from '../../kernel/time/awaitable.ts'

/**
 * The same database, and how often it has failed: once for each statement, lookup or transaction. A
 * key that exists already is an answer, and what a transaction's body throws is its own affair.
 */
export function countErrors(db: OpenedDatabase): { db: OpenedDatabase; errors(): number } {
  let errors = 0

  /** Returns the very same promise, so that nothing waits longer for it. */
  function counted<T extends Awaitable<unknown>>(answer: T): T {
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (isFault(error, db)) errors += 1
      })
    }
    return answer
  }

  return {
    db: {
      ...db,
      all: (statement, params) => counted(db.all(statement, params)),
      get: (statement, params) => counted(db.get(statement, params)),
      run: (statement, params) => counted(db.run(statement, params)),
      each: (statement, rows) => counted(db.each(statement, rows)),
      find: (lookup, params) => counted(db.find(lookup, params)),
      findAll: (lookup, params) => counted(db.findAll(lookup, params)),
      transaction: (body, options) => counted(db.transaction(body, options)),
      longRead: (body) => counted(db.longRead(body)),
    },
    errors: () => errors,
  }
}

function isFault(error: unknown, db: OpenedDatabase): boolean {
  if (error instanceof UniqueViolation) return false
  return faults.some((fault) => error instanceof fault) || db.isEngineError(error)
}

const faults = [DatabaseUnavailable, DatabaseContention, StatementTimeout]
