import { type Dialect, onlyReads, renderStatement } from '../dialect.ts'
import type { Columns, Row, Statement } from '../statement.ts'
import {
  createBatchEncoder,
  createDecoder,
  createEncoder,
  typeName,
  type WireValue,
} from './values.ts'

/** A statement as PostgreSQL knows it, under its own name on every connection. */
export type Prepared<R extends Columns = Columns> = {
  readonly name: string
  readonly text: string
  readonly onlyReads: boolean
  readonly scan: boolean
  /** The values of one call, or for a batch statement of all its rows. */
  encode(row: object): WireValue[]
  encodeRows(rows: readonly object[]): WireValue[]
  rows(answer: Answer): Row<R>[]
}

/** What a connection answers: text values in the order of the fields. */
export type Answer = {
  readonly fields: readonly { name: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly rowCount: number | null
  readonly command: string
}

/** Makes and keeps the PostgreSQL side of every statement of one database. */
export class PreparedStatements {
  readonly #prepared = new WeakMap<Statement, Prepared>()

  of<R extends Columns>(statement: Statement<Columns, R>): Prepared<R> {
    const known = this.#prepared.get(statement)
    if (known) return known as Prepared<R>
    const made = prepare(statement)
    this.#prepared.set(statement, made)
    return made
  }
}

function prepare<R extends Columns>(statement: Statement<Columns, R>): Prepared<R> {
  const encodeRows = createBatchEncoder(statement.name, statement.params)
  const decoder = createDecoder(statement.name, statement.row)
  let decode: ReturnType<typeof decoder> | undefined
  return {
    name: statement.name,
    text: renderStatement(statement, dialect),
    onlyReads: onlyReads(statement),
    scan: statement.scan,
    encode:
      'batch' in statement
        ? (row) => encodeRows([row])
        : createEncoder(statement.name, statement.params),
    encodeRows,
    rows(answer) {
      if (answer.rows.length === 0) return []
      decode ??= decoder(answer.fields)
      return answer.rows.map(decode)
    },
  }
}

const dialect: Dialect = {
  // The cast leaves nothing for the server to infer, so a statement means the same everywhere.
  parameter: (index, type) => `$${index}::${typeName(type)}`,
  rows(params) {
    const arrays = Object.values(params).map((type, at) => `$${at + 1}::${typeName(type)}[]`)
    const names = Object.keys(params).join(', ')
    return `(SELECT * FROM unnest(${arrays.join(', ')}) AS given (${names}))`
  },
  lock: (strength, table) => `FOR ${strength.toUpperCase()} OF ${table}`,
  contains: (whole, part) => `strpos(${whole}, ${part}) > 0`,
  fence: 'OFFSET 0',
  now: 'CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)',
}
