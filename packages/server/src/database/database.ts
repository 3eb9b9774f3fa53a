import { Unavailable } from '../kernel/errors/unavailable.ts'
import type { Awaitable } from '../kernel/time/awaitable.ts'
import type { Explorer } from './explorer/explorer.ts'
import type { BatchStatement, Columns, Lookup, Row, Statement } from './statement.ts'

/** What stores use: both a database and one of its transactions offer it. */
export type Queries = {
  /** Every row that the statement answers with, in its order. */
  all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]>
  /** The first row, or undefined when there is none. */
  get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined>
  /** Runs a statement whose rows are not needed; answers how many rows it changed. */
  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<number>
  /** Runs a batch statement over `rows` (none is allowed) and answers with all its rows. */
  each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]>
}

/**
 * Valid only while the body it was given to runs. A statement that fails ends it: nothing of the
 * transaction is kept then, whatever the body does about the error.
 */
export type Transaction = Queries & {
  /**
   * Runs a batch statement over `rows` as the transaction's last, when the body has ended well;
   * what it answers is not asked for. On PostgreSQL it travels together with the commit, and so
   * costs half of what it would by itself. If it fails, so does the transaction.
   */
  atCommit<P extends Columns>(statement: BatchStatement<P, Columns>, rows: readonly Row<P>[]): void
}

export type TransactionOptions = {
  /**
   * PostgreSQL only; SQLite's writers run one after another. `serializable` (default) suits bodies
   * that read and then write. `read committed` suits bodies that lock the rows they decide on.
   */
  isolation?: 'serializable' | 'read committed'
  /**
   * The body carries a unique key that makes a repeat harmless, so it may be run again even when
   * the connection died during COMMIT and it is unknown whether the first run was kept.
   */
  idempotent?: boolean
  /**
   * For jobs: work that has to be one transaction and takes as long as there are many rows.
   * Its statements have no time limit. The transactions of a lease always are. Default: false.
   */
  long?: boolean
  /**
   * `later` waits for no disk: the changes may reach it a moment later, but with or before
   * everything that is written after them, so a durable write behind them has them too. On SQLite
   * readers may not see them yet, and a commit that fails takes both.
   */
  durable?: 'later'
}

export type Backend = 'in-memory' | 'sqlite' | 'postgres'

/** `suspect`: one probe or statement failed; `down`: two probes in a row failed. */
export type DatabaseState = 'up' | 'suspect' | 'down'

export type DatabaseStats = {
  /** Connections that run something, and callers that wait for one. */
  in_use: number
  waiting: number
  /** Transactions given up because others were always in their way. */
  contention_total: number
}

export type Database = Queries & {
  readonly backend: Backend
  /** False only for the in-memory backend: a restart clears it. */
  readonly durable: boolean
  /**
   * Answers one lookup, at once when the answer is at hand. From a file, calls made in one turn of
   * the event loop are read together when it ends. On PostgreSQL these, and those made while others
   * are under way, share one round trip. Callers may share the row: do not change it.
   */
  find<P extends Columns, R extends P>(
    lookup: Lookup<P, R>,
    params: Row<P>,
  ): Awaitable<Row<R> | undefined>
  /** As `find`, for a lookup that may have several rows for one question. */
  findAll<P extends Columns, R extends P>(
    lookup: Lookup<P, R>,
    params: Row<P>,
  ): Promise<readonly Row<R>[]>
  /**
   * Runs `body` as one transaction and resolves once its commit is durable. The body is run again
   * when the database asks for it (serialization failure, deadlock), so it must have no effect
   * outside the transaction and wait for nothing but the transaction's own statements.
   */
  transaction<T>(body: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /**
   * Runs `body`, which changes nothing, over one committed state, for what may take long or answer
   * with many rows: these come some at a time, and the event loop serves others in between. Writers
   * go on meanwhile; only in memory do they, and all who read, wait for its end. So `body` must
   * wait for nothing but its own statements, and may be run again, as in a transaction. A single
   * statement that is `long` needs no body: outside of transactions it runs the same way. On SQLite
   * those under way fail when the database is closed.
   */
  longRead<T>(body: (state: Queries) => Promise<T>): Promise<T>
  /** What operators look into the store with; undefined in memory. */
  readonly explorer: Explorer | undefined
  state(): DatabaseState
  stats(): DatabaseStats
  /** Asks the database for a sign of life; resolves to whether it answered and takes writes. */
  probe(): Promise<boolean>
  close(): Promise<void>
}

/** Thrown when a statement breaks a uniqueness rule; the service turns it into its 409. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** Thrown, and answered as 500, when the database cannot be reached or refuses to write. */
export class DatabaseUnavailable extends Unavailable {
  override readonly name = 'DatabaseUnavailable'
}

/** Thrown by a start whose server was reached and is nothing this node can run on. */
export class DatabaseUnfit extends Error {
  override readonly name = 'DatabaseUnfit'
}

/** Thrown, and answered as 500, when a transaction met others in its way at every attempt. */
export class DatabaseContention extends Unavailable {
  override readonly name = 'DatabaseContention'
}

/** Thrown, and answered as 500, when a statement ran past `database.statement_timeout_ms`. */
export class StatementTimeout extends Unavailable {
  override readonly name = 'StatementTimeout'
}
