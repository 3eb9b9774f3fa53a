import { rowsAtOnce } from '../../../kernel/batching/rows-at-once.ts'
import type { BatchStatement, Columns, Row, Statement } from '../../statement.ts'
import type { SqliteConnection } from '../connection.ts'

/** Up to `rowsAtOnce` rows of an answer. */
export type Part = { rows: Row<Columns>[]; isLast: boolean }

/** A statement as it is asked for: one row of parameters, or those of a batch. */
export type Asked =
  | { how: 'all' | 'get'; statement: Statement; params: object }
  | { how: 'each'; statement: BatchStatement; params: readonly object[] }

/** One committed state, read some rows at a time; one statement after another. */
export type Steps = {
  /** The first rows of a statement; it ends the one before. */
  first(asked: Asked): Part | Promise<Part>
  /** The rows behind those of the last part, of the same statement. */
  next(): Part | Promise<Part>
  end(): void | Promise<void>
}

/** The steps on a connection that nothing else uses meanwhile. The first one fixes the state. */
export class SteppedRead implements Steps {
  readonly #connection: SqliteConnection
  #parts: Generator<Row<Columns>[], void> | undefined

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  first(asked: Asked): Part {
    this.#close()
    const connection = this.#connection
    if (!connection.inTransaction) connection.exec('BEGIN')
    if (!connection.onlyReads(asked.statement)) throw new Error(`${asked.statement.name} ${writes}`)
    if (asked.how === 'each') {
      return { rows: connection.each(asked.statement, asked.params), isLast: true }
    }
    if (asked.how === 'get') {
      const row = connection.get(asked.statement, asked.params)
      return { rows: row === undefined ? [] : [row], isLast: true }
    }
    this.#parts = connection.parts(asked.statement, asked.params, rowsAtOnce)
    return this.next()
  }

  next(): Part {
    const rows = this.#parts?.next().value ?? []
    const isLast = rows.length < rowsAtOnce
    if (isLast) this.#close()
    return { rows, isLast }
  }

  end(): void {
    this.#close()
    if (this.#connection.inTransaction) this.#connection.exec('COMMIT')
  }

  /** A statement that still runs would keep its state for the next read. */
  #close(): void {
    this.#parts?.return()
    this.#parts = undefined
  }
}

const writes = 'changes something, which a long read may not'
