import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  checkColumns,
  type Dialect,
  onlyReads,
  renderStatement,
  textFor,
} from '../engine/dialect.ts'
import {
  type BatchStatement,
  type Columns,
  type Row,
  type Statement,
  typeText,
} from '../statement.ts'
import {
  type AnyRow,
  decoderOf,
  type Encode,
  encodersOf,
  readsBigInts,
  type Value,
} from './values.ts'

type ConnectionOptions = {
  readOnly?: boolean
  /** The clock behind `{{now}}`: on this engine the node's clock is the database's. */
  nowUnixMs: () => number
}

type Prepared = {
  readonly native: StatementSync
  readonly names: readonly string[]
  readonly encoders: readonly Encode[]
  readonly decode: (values: Value[]) => AnyRow
  readonly onlyReads: boolean
}

/** One SQLite connection: prepares every statement once and runs it at once, on this thread. */
export class SqliteConnection {
  readonly #native: DatabaseSync
  readonly #prepared = new WeakMap<Statement, Prepared>()
  #begin: StatementSync | undefined
  #commit: StatementSync | undefined

  constructor(path: string, { readOnly = false, nowUnixMs }: ConnectionOptions) {
    this.#native = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs })
    this.#native.function('guildhall_now', () => BigInt(nowUnixMs()))
  }

  /** True between BEGIN and COMMIT; SQLite itself ends a transaction on some errors. */
  get inTransaction(): boolean {
    return this.#native.isTransaction
  }

  onlyReads(statement: Statement): boolean {
    return this.#prepare(statement).onlyReads
  }

  all<R extends Columns>(statement: Statement<Columns, R>, params: object): Row<R>[] {
    const prepared = this.#prepare(statement)
    const rows = prepared.native.all(...bind(statement, prepared, params))
    return (rows as unknown as Value[][]).map(prepared.decode) as Row<R>[]
  }

  /** The rows of `all` in parts of `rowsMax`; the last part has fewer, or none. */
  *parts<R extends Columns>(
    statement: Statement<Columns, R>,
    params: object,
    rowsMax: number,
  ): Generator<Row<R>[]> {
    const prepared = this.#prepare(statement)
    let part: Row<R>[] = []
    for (const values of prepared.native.iterate(...bind(statement, prepared, params))) {
      part.push(prepared.decode(values as unknown as Value[]) as Row<R>)
      if (part.length < rowsMax) continue
      yield part
      part = []
    }
    yield part
  }

  get<R extends Columns>(statement: Statement<Columns, R>, params: object): Row<R> | undefined {
    const prepared = this.#prepare(statement)
    const row = prepared.native.get(...bind(statement, prepared, params))
    return row && (prepared.decode(row as unknown as Value[]) as Row<R>)
  }

  run(statement: Statement, params: object): number {
    const prepared = this.#prepare(statement)
    return Number(prepared.native.run(...bind(statement, prepared, params)).changes)
  }

  each<R extends Columns>(
    statement: BatchStatement<Columns, R>,
    rows: readonly object[],
  ): Row<R>[] {
    if (rows.length === 1 && rows[0]) return this.all(statement, rows[0])
    return this.#asOne(() => {
      const answers: Row<R>[] = []
      for (const row of rows) for (const answer of this.all(statement, row)) answers.push(answer)
      return answers
    })
  }

  /** Prepares a text of the engine itself, such as COMMIT. */
  command(text: string): StatementSync {
    return this.#native.prepare(text)
  }

  exec(text: string): void {
    this.#native.exec(text)
  }

  /** Makes a function that SQL on this connection can call; what it answers is not looked at. */
  define(name: string, call: (first: Value, second: Value) => void): void {
    this.#native.function(name, (first, second) => {
      call(first as Value, second as Value)
      return null
    })
  }

  close(): void {
    if (this.#native.isOpen) this.#native.close()
  }

  /** To begin and end a read costs more than to find a row: a file is locked each time. */
  #asOne<T>(work: () => T): T {
    if (this.inTransaction) return work()
    this.#begin ??= this.command('BEGIN')
    this.#commit ??= this.command('COMMIT')
    this.#begin.run()
    try {
      return work()
    } finally {
      if (this.inTransaction) this.#commit.run()
    }
  }

  #prepare(statement: Statement): Prepared {
    return this.#prepared.get(statement) ?? this.#prepareFirst(statement)
  }

  #prepareFirst(statement: Statement): Prepared {
    const native = this.#native.prepare(
      withFixedPlan(renderStatement(ofOneRow(statement), dialect)),
    )
    native.setReturnArrays(true)
    if (readsBigInts(statement.row)) native.setReadBigInts(true)
    const answered = native.columns().map((column) => column.name)
    checkColumns(statement, answered)
    const prepared: Prepared = {
      native,
      names: Object.keys(statement.params),
      encoders: encodersOf(statement.params),
      decode: decoderOf(statement.row, answered),
      onlyReads: onlyReads('sqlite', statement),
    }
    this.#prepared.set(statement, prepared)
    return prepared
  }
}

/** Only another process (a backup, a doctor) can be in the way, and only for an instant. */
const busyTimeoutMs = 100

const dialect: Dialect = {
  engine: 'sqlite',
  parameter: (index) => `?${index}`,
  rows: (params) =>
    `(SELECT ${Object.keys(params)
      .map((name, at) => `?${at + 1} AS ${name}`)
      .join(', ')})`,
  // Out of a SELECT there could be many, for which SQLite prepares to undo the first of them.
  given: (params) => `VALUES (${Object.keys(params).map((_, at) => `?${at + 1}`)})`,
  // Writers run one after another, so every row that a transaction sees is as good as locked.
  lock: () => '',
  contains: (whole, part) => `instr(${whole}, ${part}) > 0`,
  // Behind LIMIT and OFFSET, where it matters here, see `withFixedPlan`.
  unplanned: (parameter) => parameter,
  lateral: '',
  now: 'guildhall_now()',
  // A subquery that stays one hands its rows on column by column, for as much as a search costs.
  fence: '',
}

/**
 * SQLite plans a statement anew for every value of a bare parameter behind LIMIT or OFFSET, which
 * costs ten times what a page does.
 */
function withFixedPlan(text: string): string {
  return text.replace(/\b(LIMIT|OFFSET) (\?\d+)/g, '$1 ($2 + 0)')
}

/**
 * A batch statement is run row by row here, so an UPDATE can name the parameters themselves. From a
 * table of rows, even of one, SQLite first makes a temporary one, which costs what the change does;
 * and it knows no DELETE with USING.
 */
function ofOneRow(statement: Statement): Statement {
  const given = textFor('sqlite', statement)
  const text = given.replace(/\b(?:FROM|USING) \{\{rows\}\} AS r\s+WHERE\b/, 'WHERE')
  if (text === given || !/^\s*(?:UPDATE|DELETE)\b/i.test(text)) return statement
  return { ...statement, text: text.replace(/\br\.(\w+)/g, ':$1') }
}

function bind(statement: Statement, prepared: Prepared, params: object): SQLInputValue[] {
  const { names, encoders } = prepared
  const given = params as { readonly [name: string]: unknown }
  const values: SQLInputValue[] = []
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? ''
    const value = encoders[at]?.(given[name])
    if (value === undefined) {
      const type = typeText(statement.params[name] ?? 'text')
      throw new TypeError(`${statement.name}: :${name} must be ${type}`)
    }
    values.push(value)
  }
  return values
}
