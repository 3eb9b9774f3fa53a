import { afterOthers } from '../../kernel/clock.ts'
import type { Queries } from '../database.ts'
import { rowsAtOnce } from '../rows-at-once.ts'
import type { BatchStatement, Columns, Row, Statement } from '../statement.ts'
import type { SqliteConnection } from './connection.ts'
import { classified } from './errors.ts'

/** Runs long reads of a file one after another, on a connection that nothing else uses. */
export class LongReads {
  readonly #open: () => SqliteConnection
  #connection: SqliteConnection | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(open: () => SqliteConnection) {
    this.#open = open
  }

  read<T>(body: (state: Queries) => Promise<T>): Promise<T> {
    const read = this.#last.then(() => longRead(this.#opened(), body))
    this.#last = read.catch(() => {})
    return read
  }

  /** Closes the connection once every read that was asked for has ended. */
  async close(): Promise<void> {
    await this.#last
    this.#connection?.close()
  }

  #opened(): SqliteConnection {
    try {
      this.#connection ??= this.#open()
      return this.#connection
    } catch (error) {
      throw classified(error)
    }
  }
}

/** Runs `body` over one state of a connection that nobody else uses meanwhile. */
export async function longRead<T>(
  connection: SqliteConnection,
  body: (state: Queries) => Promise<T>,
): Promise<T> {
  const state = new LongRead(connection)
  connection.exec('BEGIN')
  try {
    return await body(state)
  } finally {
    state.end()
    if (connection.inTransaction) connection.exec('COMMIT')
  }
}

/** Runs its statements one after another: the rows of one may take several turns to come. */
class LongRead implements Queries {
  readonly #connection: SqliteConnection
  #last: Promise<unknown> = Promise.resolve()
  #open = true

  constructor(connection: SqliteConnection) {
    this.#connection = connection
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

  end(): void {
    this.#open = false
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
    if (!this.#open) throw new Error(endedMessage)
  }
}

const writes = 'changes something, which a long read may not'
const endedMessage = 'this long read has ended; its statements must be awaited inside the body'
