import { type Dialect, onlyReads, renderStatement } from '../engine/dialect.ts'
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
  rows(answer: Answer): Row<R>[]
}

/** A statement with the values of one call, ready to be sent. */
export type Call<R extends Columns = Columns> = {
  readonly prepared: Prepared<R>
  readonly values: WireValue[]
}

/** How a statement is called with what its callers give it. */
type Form<R extends Columns, Given> = {
  readonly prepared: Prepared<R>
  encode(given: Given): WireValue[]
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
  readonly #plain = new WeakMap<Statement, Form<Columns, object>>()
  readonly #batches = new WeakMap<Statement, Form<Columns, readonly object[]>>()

  /** A call with one row of parameters. */
  call<R extends Columns>(statement: Statement<Columns, R>, row: object): Call<R> {
    const known = this.#plain.get(statement) as Form<R, object> | undefined
    const form = known ?? plainForm(statement)
    if (!known) this.#plain.set(statement, form)
    return { prepared: form.prepared, values: form.encode(row) }
  }

  /** A call of a batch statement. A row that comes alone is not worth the arrays. */
  callWith<R extends Columns>(statement: Statement<Columns, R>, rows: readonly object[]): Call<R> {
    if (rows.length === 1 && rows[0]) return this.call(statement, rows[0])
    const known = this.#batches.get(statement) as Form<R, readonly object[]> | undefined
    const form = known ?? batchForm(statement)
    if (!known) this.#batches.set(statement, form)
    return { prepared: form.prepared, values: form.encode(rows) }
  }
}

function plainForm<R extends Columns>(statement: Statement<Columns, R>): Form<R, object> {
  const { name, params } = statement
  // A batch statement has two texts, and one name stands for one text.
  const ownName = 'batch' in statement ? `${name}.one` : name
  return {
    prepared: prepare(statement, ownName, oneRow),
    encode: createEncoder(name, params),
  }
}

function batchForm<R extends Columns>(
  statement: Statement<Columns, R>,
): Form<R, readonly object[]> {
  const { name, params } = statement
  return {
    prepared: prepare(statement, name, manyRows),
    encode: createBatchEncoder(name, params),
  }
}

function prepare<R extends Columns>(
  statement: Statement<Columns, R>,
  name: string,
  dialect: Dialect,
): Prepared<R> {
  const decoder = createDecoder(statement)
  let decode: ReturnType<typeof decoder> | undefined
  return {
    name,
    text: renderStatement(statement, dialect),
    onlyReads: onlyReads('postgres', statement),
    rows(answer) {
      decode ??= decoder(answer.fields)
      return answer.rows.map(decode)
    },
  }
}

const manyRows: Dialect = {
  engine: 'postgres',
  // The cast leaves nothing for the server to infer, so a statement means the same everywhere.
  parameter: (index, type) => `$${index}::${typeName(type)}`,
  rows(params) {
    // Out of a SELECT: a short array is nothing to plan for, or each batch would be planned anew.
    const arrays = Object.values(params).map((type, at) => {
      return `(SELECT $${at + 1}::${typeName(type)}[])`
    })
    const names = Object.keys(params).join(', ')
    return `(SELECT * FROM unnest(${arrays.join(', ')}) AS given (${names}))`
  },
  given: (params) => `SELECT * FROM ${manyRows.rows(params)} AS given`,
  lock: (strength, table) => `FOR ${strength.toUpperCase()} OF ${table}`,
  contains: (whole, part) => `strpos(${whole}, ${part}) > 0`,
  // Out of a SELECT it is nothing to plan for: the plan is made once and kept.
  unplanned: (parameter) => `(SELECT ${parameter})`,
  lateral: 'LATERAL',
  fence: 'OFFSET 0',
  now: 'CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)',
}

/** Out of arrays a lone row costs the server three times as much as out of plain parameters. */
const oneRow: Dialect = {
  ...manyRows,
  rows(params) {
    const columns = Object.entries(params).map(([name, type], at) => {
      return `${manyRows.parameter(at + 1, type)} AS ${name}`
    })
    return `(SELECT ${columns.join(', ')})`
  },
  given(params) {
    const values = Object.values(params).map((type, at) => manyRows.parameter(at + 1, type))
    return `VALUES (${values.join(', ')})`
  },
}
