import { rowsAtOnce } from '../../kernel/batching/rows-at-once.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Randomness } from '../../kernel/ids.ts'
import { DatabaseContention, type TransactionOptions } from '../database.ts'
import type { SchemaTransaction } from '../migrations/schema-access.ts'
import type { BatchStatement, Columns, Row, Statement } from '../statement.ts'
import { inTheirOrder } from '../writes/in-their-order.ts'
import type { Connection } from './connections/connection.ts'
import { ConnectionLost, isContention } from './errors.ts'
import type { Call, PreparedStatements } from './prepared.ts'

export type RetryDeps = {
  clock: Clock
  randomness: Randomness
  attempts: number
  onGivenUp: () => void
}

/**
 * Runs `attempt` again, after a short random pause, while it fails because others were in its way,
 * or because its connection was lost before anything could have been kept.
 */
export async function retrying<T>(
  { clock, randomness, attempts, onGivenUp }: RetryDeps,
  attempt: () => Promise<T>,
): Promise<T> {
  const giveUpAtMs = clock.monotonicMs() + retryForMs
  for (let made = 1; ; made += 1) {
    try {
      return await attempt()
    } catch (error) {
      const contention = isContention(error)
      if (!contention && !(error instanceof NothingKept)) throw error
      const pauseMs = pauseAfter(made, randomness)
      if (made >= attempts || clock.monotonicMs() + pauseMs > giveUpAtMs) {
        if (!contention) throw error
        onGivenUp()
        throw new DatabaseContention(`gave up after ${made} attempts`, { cause: error })
      }
      await clock.sleep(pauseMs)
    }
  }
}

/** The connection was lost before COMMIT was sent, so a repeat can double nothing. */
export class NothingKept extends ConnectionLost {}

const retryForMs = 2000
const pauseMaxMs = 64

/** Random, from a span that doubles: 1..2, 1..4, up to 1..64 ms. */
function pauseAfter(attempts: number, randomness: Randomness): number {
  const spanMs = Math.min(pauseMaxMs, 2 ** attempts)
  return 1 + (randomness(2).readUInt16LE() % spanMs)
}

export type RunOptions = TransactionOptions & {
  prepared: PreparedStatements
  /** Reads one committed state and changes nothing. */
  snapshot?: boolean
  /** `all` fetches its rows some at a time: a long answer is taken in without letting others go. */
  inParts?: boolean
}

/** Runs `body` once as a transaction on a connection that nothing else uses meanwhile. */
export async function runTransaction<T>(
  connection: Connection,
  body: (tx: SchemaTransaction) => Promise<T>,
  options: RunOptions,
): Promise<T> {
  const { idempotent = false, long = false } = options
  const tx = new PostgresTransaction(connection, options)
  let committing = false
  try {
    connection.patient = long
    // Not awaited here: they travel together with the first statement.
    const begun = beginningOf(options).map((text) => connection.together(callOf(text)))
    for (const command of begun) command.catch(() => {})
    const result = await body(tx)
    await Promise.all(begun)
    tx.end()
    committing = true
    const last = [...tx.last, callOf('COMMIT')].map((call) => connection.together(call))
    const committed = (await inTheirOrder(last)).at(-1)
    if (committed?.command !== 'COMMIT')
      throw new Error('a transaction went on after one of its statements failed')
    return result
  } catch (error) {
    tx.end()
    // Also when what was to be committed with it failed, for then COMMIT was passed over.
    if (connection.alive) await connection.command('ROLLBACK').catch(() => {})
    const harmless = !committing || idempotent
    if (harmless && error instanceof ConnectionLost) {
      throw new NothingKept('the connection failed', { cause: error })
    }
    throw error
  } finally {
    connection.patient = false
  }
}

function beginningOf(options: RunOptions): string[] {
  const { isolation = 'serializable', snapshot = false, long = false } = options
  const mode = snapshot ? 'REPEATABLE READ READ ONLY' : isolation.toUpperCase()
  const commands = [`BEGIN ISOLATION LEVEL ${mode}`]
  // For one transaction only: behind a pooler, others inherit what a session has set.
  if (options.durable === 'later') commands.push('SET LOCAL synchronous_commit = off')
  if (long) {
    commands.push('SET LOCAL statement_timeout = 0')
    commands.push('SET LOCAL plan_cache_mode = force_custom_plan')
  }
  // Every row will be fetched; the server would plan for the first tenth of them.
  if (options.inParts) commands.push('SET LOCAL cursor_tuple_fraction = 1')
  return commands
}

/** A command, prepared like a statement. */
function callOf(text: string) {
  return { prepared: { name: `guildhall: ${text}`, text }, values: [] }
}

class PostgresTransaction implements SchemaTransaction {
  readonly #connection: Connection
  readonly #prepared: PreparedStatements
  readonly #inParts: boolean
  readonly #last: Call[] = []
  #cursors = 0
  #sorts = true
  #open = true

  constructor(connection: Connection, { prepared, inParts = false }: RunOptions) {
    this.#connection = connection
    this.#prepared = prepared
    this.#inParts = inParts
  }

  async all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    this.#check()
    const call = this.#prepared.call<R>(statement, params)
    this.#order(statement)
    if (this.#inParts) return this.#fetched(call)
    return call.prepared.rows(await this.#connection.together(call))
  }

  async get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined> {
    this.#check()
    const call = this.#prepared.call<R>(statement, params)
    this.#order(statement)
    return call.prepared.rows(await this.#connection.together(call))[0]
  }

  async run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<number> {
    this.#check()
    const answer = await this.#connection.together(this.#prepared.call(statement, params))
    return answer.rowCount ?? 0
  }

  async each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]> {
    this.#check()
    if (rows.length === 0) return []
    const call = this.#prepared.callWith<R>(statement, rows)
    return call.prepared.rows(await this.#connection.together(call))
  }

  atCommit<P extends Columns>(
    statement: BatchStatement<P, Columns>,
    rows: readonly Row<P>[],
  ): void {
    this.#check()
    // Nobody could be given them any more.
    if (Object.keys(statement.row).length > 0) throw new Error(`${statement.name} answers rows`)
    if (rows.length > 0) this.#last.push(this.#prepared.callWith(statement, rows))
  }

  async ddl(text: string): Promise<void> {
    this.#check()
    await this.#connection.command(text)
  }

  /** What is to run right before the commit. */
  get last(): readonly Call[] {
    return this.#last
  }

  end(): void {
    this.#open = false
  }

  /** In a long read what comes in the order of an index is not planned to be sorted. */
  #order({ inOrder }: Statement): void {
    if (!this.#inParts || inOrder !== this.#sorts) return
    this.#sorts = !inOrder
    const set = callOf(`SET LOCAL enable_sort = ${inOrder ? 'off' : 'DEFAULT'}`)
    // Where it fails, what follows fails as well.
    this.#connection.together(set).catch(() => {})
  }

  async #fetched<R extends Columns>({ prepared, values }: Call<R>): Promise<Row<R>[]> {
    this.#cursors += 1
    const cursor = `guildhall_rows_${this.#cursors}`
    const text = `DECLARE ${cursor} NO SCROLL CURSOR FOR ${prepared.text}`
    const declared = this.#connection.query({ prepared: { name: '', text }, values })
    const rows: Row<R>[] = []
    for (let isLast = false; !isLast; ) {
      this.#check()
      const fetch = this.#connection.command(`FETCH ${rowsAtOnce} FROM ${cursor}`)
      // The two travel together; of their failures, the first says why.
      const [, part] = await Promise.all([declared, fetch])
      for (const row of prepared.rows(part)) rows.push(row)
      isLast = part.rows.length < rowsAtOnce
    }
    return rows
  }

  #check(): void {
    if (this.#open) return
    throw new Error('this transaction has ended; its statements must be awaited inside the body')
  }
}
