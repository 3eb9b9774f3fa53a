import { atEndOfTurn } from '../../kernel/clock.ts'
import type { TransactionOptions } from '../database.ts'
import type { SchemaTransaction } from '../migrations/schema-access.ts'
import type { BatchStatement, Columns, Row, Statement } from '../statement.ts'
import type { Commits, Unit } from './commits/commits.ts'
import type { SqliteConnection } from './connection.ts'
import { classified } from './errors.ts'

/**
 * Runs units of work strictly one after another on one connection, so that no unit ever sees half
 * of another. A transaction's body runs in microtasks only, between two turns of the event loop.
 */
export class Writer {
  readonly #connection: SqliteConnection
  readonly #commits: Commits
  #busy = false
  readonly #waiting: (() => void)[] = []
  #body: Body | undefined
  #watching = false

  constructor(connection: SqliteConnection, commits: Commits) {
    this.#connection = connection
    this.#commits = commits
  }

  /** True while a transaction's body is open, whose changes nothing else may see. */
  get busy(): boolean {
    return this.#busy
  }

  /** Runs one statement, or with `statements` several that belong together, as a unit. */
  async do<T>(unit: Unit, changes: boolean, work: (connection: SqliteConnection) => T): Promise<T> {
    if (this.#busy || this.#commits.held) await this.#acquire()
    else this.#busy = true
    let durable: Promise<void> | undefined
    let result: T
    try {
      this.#commits.begin(unit)
      try {
        result = work(this.#connection)
        durable = this.#commits.keep(unit, changes)
      } catch (error) {
        this.#commits.undo(unit, error)
        throw error
      }
    } catch (error) {
      throw classified(error)
    } finally {
      this.#release()
    }
    if (durable) await durable
    return result
  }

  async transaction<T>(
    work: (tx: SchemaTransaction) => Promise<T>,
    whenDurable?: TransactionOptions['durable'],
  ): Promise<T> {
    if (this.#busy || this.#commits.held) await this.#acquire()
    else this.#busy = true
    let durable: Promise<void> | undefined
    let visible: Promise<void> | undefined
    let result: T
    try {
      this.#commits.begin('statements')
      const body = new Body(this.#connection)
      this.#watch(body)
      try {
        result = await Promise.race([work(body), body.overdue])
        body.complete()
        durable = this.#commits.keep('statements', body.changed)
      } catch (error) {
        body.end()
        this.#commits.undo('statements', error)
        visible = this.#commits.visible
        throw error
      }
    } catch (error) {
      this.#body = undefined
      this.#release()
      // What is refused may be looked up at once.
      await visible?.catch(() => {})
      throw classified(error)
    }
    this.#body = undefined
    this.#release()
    if (durable && whenDurable !== 'later') await durable
    return result
  }

  /** Runs `work`, which changes nothing, over as many turns as it takes; all others wait. */
  async alone<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    if (this.#busy || this.#commits.held) await this.#acquire()
    else this.#busy = true
    try {
      return await work(this.#connection)
    } finally {
      this.#release()
    }
  }

  /** Resolves once everything that was asked for before has run. */
  async drained(): Promise<void> {
    await this.#acquire()
    this.#release()
  }

  async #acquire(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy = true
    while (this.#commits.held) await this.#commits.held
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy = false
  }

  /**
   * Microtasks never outlive a turn, so a body that is still open at the end of its turn waits for
   * something else than its own statements: it would hold up every other writer for as long.
   */
  #watch(body: Body): void {
    this.#body = body
    if (this.#watching) return
    this.#watching = true
    atEndOfTurn(() => {
      this.#watching = false
      this.#body?.expire()
    })
  }
}

class Body implements SchemaTransaction {
  readonly #connection: SqliteConnection
  readonly #overdue = Promise.withResolvers<never>()
  #open = true
  #failed = false
  readonly #last: (() => void)[] = []
  changed = false

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  get overdue(): Promise<never> {
    return this.#overdue.promise
  }

  async all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    return this.#try(statement, (on) => on.all(statement, params))
  }

  async get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined> {
    return this.#try(statement, (on) => on.get(statement, params))
  }

  async run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<number> {
    return this.#try(statement, (on) => on.run(statement, params))
  }

  async each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]> {
    return this.#try(statement, (on) => on.each(statement, rows))
  }

  atCommit<P extends Columns>(
    statement: BatchStatement<P, Columns>,
    rows: readonly Row<P>[],
  ): void {
    if (!this.#open) throw new Error(endedMessage)
    this.#last.push(() => void this.#try(statement, (on) => on.each(statement, rows)))
  }

  async ddl(text: string): Promise<void> {
    if (!this.#open) throw new Error(endedMessage)
    this.changed = true
    this.#connection.exec(text)
  }

  /** The body came to its end: what it left for the end runs, and nothing else any more. */
  complete(): void {
    for (const run of this.#last) run()
    this.#open = false
    if (this.#failed) throw new Error(failedMessage)
  }

  end(): void {
    this.#open = false
  }

  expire(): void {
    this.#open = false
    this.#overdue.reject(new Error(overdueMessage))
  }

  /** As on PostgreSQL, a statement that fails leaves nothing of its transaction to be kept. */
  #try<T>(statement: Statement, work: (connection: SqliteConnection) => T): T {
    if (!this.#open) throw new Error(endedMessage)
    if (this.#failed) throw new Error(failedMessage)
    try {
      if (!this.#connection.onlyReads(statement)) this.changed = true
      return work(this.#connection)
    } catch (error) {
      this.#failed = true
      throw classified(error)
    }
  }
}

const endedMessage = 'this transaction has ended; its statements must be awaited inside the body'
const overdueMessage = 'a transaction waits for something other than its own statements'
const failedMessage = 'a transaction went on after one of its statements failed'
