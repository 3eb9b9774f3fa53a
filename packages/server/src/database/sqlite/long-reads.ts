import { afterOthers } from '../../kernel/clock.ts'
import { DatabaseUnavailable, type Queries } from '../database.ts'
import { rowsAtOnce } from '../rows-at-once.ts'
import type { BatchStatement, Columns, Row, Statement } from '../statement.ts'
import type { SqliteConnection } from './connection.ts'
import { classified } from './errors.ts'

/** Runs long reads of a file one after another, on a connection that nothing else uses. */
export class LongReads {
  readonly #open: () => SqliteConnection
  #connection: SqliteConnection | undefined
  #last: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(open: () => SqliteConnection) {
    this.#open = open
  }

  read<T>(body: (state: Queries) => Promise<T>): Promise<T> {
    const isOpen = () => !this.#closed
    const read = this.#last.then(() => longRead(() => this.#opened(), { body, isOpen }))
    this.#last = read.catch(() => {})
    return read
  }

  /**
   * Closes the connection once the read under way has seen that it has to end; those behind it are
   * refused. A file that failed is opened again only after that.
   */
  async close(): Promise<void> {
    this.#closed = true
    await this.#last
    this.#connection?.close()
  }

  #opened(): SqliteConnection {
    this.#connection ??= this.#open()
    return this.#connection
  }
}

type Reading<T> = {
  body: (state: Queries) => Promise<T>
  /** False once the database is being closed, which waits for nobody who reads. */
  isOpen: () => boolean
}

/** Runs `body` over one state of a connection that nobody else uses meanwhile. */
export async function longRead<T>(
  open: () => SqliteConnection,
  { body, isOpen }: Reading<T>,
): Promise<T> {
  const connection = begun(open, isOpen)
  const state = new LongRead(connection, isOpen)
  try {
    return await body(state)
  } finally {
    // A statement that still runs would keep its state for the next read.
    await state.end()
    if (connection.inTransaction) connection.exec('COMMIT')
  }
}

function begun(open: () => SqliteConnection, isOpen: () => boolean): SqliteConnection {
  if (!isOpen()) throw closed()
  try {
    const connection = open()
    connection.exec('BEGIN')
    return connection
  } catch (error) {
    throw classified(error)
  }
}

/** Runs its statements one after another: the rows of one may take several turns to come. */
class LongRead implements Queries {
  readonly #connection: SqliteConnection
  readonly #isOpen: () => boolean
  #last: Promise<unknown> = Promise.resolve()
  #ended = false

  constructor(connection: SqliteConnection, isOpen: () => boolean) {
    this.#connection = connection
    this.#isOpen = isOpen
  }

  all<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R>[]> {
    return this.#inTurn(statement, () => this.#rows(statement, params))
  }

  get<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<Row<R> | undefined> {
    return this.#inTurn(statement, () => this.#connection.get(statement, params))
  }

  run<P extends Columns, R extends Columns>(
    statement: Statement<P, R>,
    params: Row<P>,
  ): Promise<number> {
    return this.#inTurn(statement, () => this.#connection.run(statement, params))
  }

  each<P extends Columns, R extends Columns>(
    statement: BatchStatement<P, R>,
    rows: readonly Row<P>[],
  ): Promise<Row<R>[]> {
    return this.#inTurn(statement, () => this.#connection.each(statement, rows))
  }

  /** Resolves once no statement runs any more. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#last
  }

  #inTurn<T>(statement: Statement, work: () => T | Promise<T>): Promise<T> {
    const answer = this.#last.then(async () => {
      this.#check()
      try {
        if (!this.#connection.onlyReads(statement)) throw new Error(`${statement.name} ${writes}`)
        return await work()
      } catch (error) {
        throw classified(error)
      }
    })
    this.#last = answer.catch(() => {})
    return answer
  }

  async #rows<R extends Columns>(statement: Statement<Columns, R>, params: object) {
    const rows: Row<R>[] = []
    for (const part of this.#connection.parts(statement, params, rowsAtOnce)) {
      for (const row of part) rows.push(row)
      if (part.length < rowsAtOnce) break
      await afterOthers()
      this.#check()
    }
    return rows
  }

  #check(): void {
    if (this.#ended) throw new Error(endedMessage)
    if (!this.#isOpen()) throw closed()
  }
}

function closed(): DatabaseUnavailable {
  return new DatabaseUnavailable('the database is closed')
}

const writes = 'changes something, which a long read may not'
const endedMessage = 'this long read has ended; its statements must be awaited inside the body'
