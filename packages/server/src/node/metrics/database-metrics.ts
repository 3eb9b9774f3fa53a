import {
  DatabaseContention,
  DatabaseUnavailable,
  StatementTimeout,
  type Transaction,
  type TransactionOptions,
} from '../../database/database.ts'
import type { OpenedDatabase } from '../../database/migrations/schema-access.ts'
import type { Clock } from '../../kernel/clock.ts'
import {
  counterFamily,
  histogramFamily,
  summaryFamily,
} from '../../kernel/metrics/metric-family.ts'
import type { Awaitable } from '../../kernel/time/awaitable.ts'

const transactionBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]

/** Times transactions, and on PostgreSQL statements by name. */
export function createDatabaseMetrics(clock: Pick<Clock, 'monotonicMs'>) {
  const queries = summaryFamily(
    { name: 'db_query_duration_seconds', help: 'Statements by name; PostgreSQL only.' },
    ['statement'],
  )
  const transactions = histogramFamily(
    {
      name: 'db_transaction_duration_seconds',
      help: 'Transactions by outcome; each attempt that was repeated is a retry.',
    },
    transactionBounds,
    ['outcome'],
  )
  const errors = counterFamily(
    { name: 'db_errors_total', help: 'Statements and transactions that failed, by kind.' },
    ['kind'],
  )
  const secondsSince = (startMs: number) => (clock.monotonicMs() - startMs) / 1000

  function timed<T extends Awaitable<unknown>>(name: string, answer: T): T {
    if (!(answer instanceof Promise)) return answer
    const startMs = clock.monotonicMs()
    const done = () => queries.observe(secondsSince(startMs), name)
    answer.then(done, (error: unknown) => {
      done()
      countError(error)
    })
    return answer
  }

  function countError(error: unknown): void {
    const kind = kindOf(error)
    if (kind !== undefined) errors.add(1, kind)
  }

  /** Runs a transaction, and measures it with each attempt that it took. */
  async function transaction<T>(
    db: OpenedDatabase,
    body: (tx: Transaction) => Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> {
    const startMs = clock.monotonicMs()
    let attemptMs = startMs
    let attempts = 0
    const measured = (tx: Transaction) => {
      if (attempts > 0) transactions.observe(secondsSince(attemptMs), 'retry')
      attempts += 1
      attemptMs = clock.monotonicMs()
      return body(tx)
    }
    try {
      const result = await db.transaction(measured, options)
      transactions.observe(secondsSince(attemptMs), 'commit')
      return result
    } catch (error) {
      transactions.observe(secondsSince(attemptMs), 'rollback')
      countError(error)
      throw error
    }
  }

  return {
    families: [queries.family, transactions.family, errors.family],
    /** The same database, measured. */
    observe(db: OpenedDatabase): OpenedDatabase {
      const measured: OpenedDatabase = {
        ...db,
        transaction: (body, options) => transaction(db, body, options),
      }
      if (db.backend !== 'postgres') return measured
      return {
        ...measured,
        all: (statement, params) => timed(statement.name, db.all(statement, params)),
        get: (statement, params) => timed(statement.name, db.get(statement, params)),
        run: (statement, params) => timed(statement.name, db.run(statement, params)),
        each: (statement, rows) => timed(statement.name, db.each(statement, rows)),
        find: (lookup, params) => timed(lookup.name, db.find(lookup, params)),
        findAll: (lookup, params) => timed(lookup.name, db.findAll(lookup, params)),
      }
    },
  }
}

function kindOf(error: unknown): string | undefined {
  if (error instanceof DatabaseUnavailable) return 'unavailable'
  if (error instanceof StatementTimeout) return 'timeout'
  if (error instanceof DatabaseContention) return 'conflict'
  return undefined
}
