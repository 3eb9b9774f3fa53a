import type { JsonObject } from '@guildhall/contract'

/**
 * A statement is written once, as portable SQL with named parameters, and prepared once per
 * connection. What differs between the engines stands in the text as one of these words:
 *
 * - `{{rows}}`: the parameter rows of a batch statement, as a table to select from;
 * - `{{given}}`: the same rows, to be inserted as they are: `INSERT INTO t (a, b) {{given}}`;
 * - `{{for share of x}}`, `{{for update of x}}`: a row lock on PostgreSQL; nothing on SQLite, whose
 *   writers run one after another anyway;
 * - `{{now}}`: the database's clock in Unix milliseconds, for leases and boundaries. On SQLite
 *   it is the node's clock;
 * - `{{fence}}`: at the end of a subquery in FROM: on PostgreSQL its columns are worked out once
 *   per row, however often they are used around it. On SQLite it is nothing, and such a column
 *   is worked out as often as it is used;
 * - `{{unplanned :name}}`: a parameter that PostgreSQL does not plan for, so that the statement is
 *   planned once and not at every call: where there is one way to the rows whatever the value is.
 *   Behind LIMIT or OFFSET it plans for a tenth of the rows. On SQLite it is the parameter itself;
 * - `CROSS JOIN {{lateral}} (...)`: PostgreSQL works the subquery out row by row, with the columns
 *   of the tables before it; needs a `{{fence}}` or a LIMIT inside. On SQLite it is nothing: there
 *   a subquery sees no table beside it;
 * - `{{contains a.name :part}}`: whether a text has another somewhere in it, letter by letter; no
 *   character has a special meaning, and the empty text is in every other.
 *
 * `INSERT ... SELECT ... FROM {{rows}} AS r` needs `WHERE true` before an `ON CONFLICT`, or SQLite
 * takes the ON for a join.
 *
 * Where more differs, a statement has a text for each engine (`eachEngine`).
 */
export type Statement<P extends Columns = Columns, R extends Columns = Columns> = {
  /**
   * Unique, dotted: it names the prepared statement and stands in metrics, e.g. `accounts.by-id`.
   * At most 59 bytes, because PostgreSQL takes names with the same beginning for one beyond 63, of
   * which its side of a batch statement needs four.
   */
  readonly name: string
  readonly text: StatementText
  readonly params: P
  readonly row: R
  /**
   * It reads a large part of a table that may have a million rows, or answers with any number of
   * them. Outside of a transaction it is a long read, which holds up nothing else.
   */
  readonly long: boolean
  /**
   * Of a long one: its rows come in the order of an index, of which a LIMIT takes the first. Where
   * PostgreSQL takes them for few, by statistics that are old or missing, it would sort all.
   */
  readonly inOrder: boolean
}

export type Engine = 'postgres' | 'sqlite'
export type StatementText = string | Readonly<Record<Engine, string>>

/** A text for each engine, e.g. `eachEngine((engine) => engine === 'sqlite' ? '...' : '...')`. */
export function eachEngine(text: (engine: Engine) => string): Readonly<Record<Engine, string>> {
  return { postgres: text('postgres'), sqlite: text('sqlite') }
}

/**
 * A statement that takes many parameter rows at once: one round trip however many there are. Rows
 * that exist are changed by `UPDATE t SET ... FROM {{rows}} AS r WHERE ...` and removed by `DELETE
 * FROM t USING {{rows}} AS r WHERE ...`; SQLite, which does it row by row, reads both without r.
 */
export type BatchStatement<P extends Columns = Columns, R extends Columns = Columns> = Statement<
  P,
  R
> & { readonly batch: true }

/**
 * A batch statement that only reads, and whose result rows carry the parameters under the same
 * names, so that each answer finds its question. `find` takes the one row that there may be.
 */
export type Lookup<P extends Columns = Columns, R extends P = P> = BatchStatement<P, R> & {
  readonly lookup: true
  /**
   * Where only this process writes, the newest answers are cached until a row that they came
   * from changes or goes. Undefined caches nothing.
   */
  readonly cached?: Cached | undefined
}

/**
 * What the answer of a lookup comes from. The row of `table` whose `column` is the lookup's only
 * parameter, and the row of `joined.table` whose `joined.column` is the answer's `joined.as`. Both
 * together must settle every column of the answer.
 */
export type Cached = {
  readonly table: string
  readonly column: string
  readonly joined: { readonly table: string; readonly column: string; readonly as: string }
}

/**
 * A value's type. `integer` is exact up to 2^53 - 1, and so is `time`, in Unix milliseconds;
 * `bigint` is signed 64-bit; `flag` is stored as 0 or 1; `json` is an object, stored as text; `?`
 * allows null.
 */
export type ColumnType = BaseType | `${BaseType}?` | OneOf
type BaseType = 'text' | 'integer' | 'time' | 'bigint' | 'bytes' | 'flag' | 'json'
export type Columns = Readonly<Record<string, ColumnType>>

/** A text out of a list; null among them allows null. Any other stored value is an error. */
export type OneOf<T extends string | null = string | null> = { readonly oneOf: readonly T[] }

/** The type of a column that holds one of `values`, e.g. `oneOf('asc', 'desc')`. */
export function oneOf<const T extends string | null>(...values: readonly T[]): OneOf<T> {
  return { oneOf: values }
}

/** The type in words, for messages. */
export function typeText(type: ColumnType): string {
  return typeof type === 'object' ? `one of ${type.oneOf.join(', ')}` : type
}

/** Whether a column may hold null. */
export function isNullable(type: ColumnType): boolean {
  return typeof type === 'object' ? type.oneOf.includes(null) : type.endsWith('?')
}

type BaseValue = {
  text: string
  integer: number
  time: number
  bigint: bigint
  bytes: Uint8Array
  flag: boolean
  json: JsonObject
}
type ValueOf<T extends ColumnType> =
  T extends OneOf<infer V>
    ? V
    : T extends `${infer B extends BaseType}?`
      ? BaseValue[B] | null
      : T extends BaseType
        ? BaseValue[T]
        : never

/** A row, or the parameters of one, as stores see it: fields keep the column's spelling. */
export type Row<C extends Columns> = { -readonly [K in keyof C]: ValueOf<C[K]> }

const nameBytesMax = 59

type Definition<P extends Columns, R extends Columns> = {
  name: string
  text: StatementText
  params?: P
  row?: R
  long?: boolean
  inOrder?: boolean
}

/**
 * Declares a statement.
 *
 * @example
 * const accountById = statement({
 *   name: 'accounts.by-id',
 *   text: 'SELECT id, username, display_name FROM accounts WHERE id = :id',
 *   params: { id: 'text' },
 *   row: { id: 'text', username: 'text', display_name: 'text?' },
 * })
 */
export function statement<
  const P extends Columns = Record<never, never>,
  const R extends Columns = Record<never, never>,
>(definition: Definition<P, R>): Statement<P, R> {
  const { name, text, params, row, long = false, inOrder = false } = definition
  if (Buffer.byteLength(name) > nameBytesMax) throw new Error(`${name} is too long a name`)
  return { name, text, params: params ?? ({} as P), row: row ?? ({} as R), long, inOrder }
}

/**
 * Declares a statement over many parameter rows. Its text selects from `{{rows}}`, which has one
 * column per parameter. No two rows of one call may touch the same stored row.
 *
 * @example
 * const insertSessions = batchStatement({
 *   name: 'sessions.insert',
 *   text: `INSERT INTO sessions (id, account_id) SELECT r.id, r.account_id FROM {{rows}} AS r`,
 *   params: { id: 'text', account_id: 'text' },
 * })
 */
export function batchStatement<
  const P extends Columns = Record<never, never>,
  const R extends Columns = Record<never, never>,
>(definition: Definition<P, R>): BatchStatement<P, R> {
  return { ...statement(definition), batch: true }
}

/**
 * Declares a lookup.
 *
 * @example
 * const accountOfDigest = lookup({
 *   name: 'sessions.by-access-digest',
 *   text: `SELECT r.digest, s.account_id FROM {{rows}} AS r
 *     JOIN sessions s ON s.access_digest = r.digest`,
 *   params: { digest: 'bytes' },
 *   row: { digest: 'bytes', account_id: 'text' },
 * })
 */
export function lookup<const P extends Columns, const R extends P>(
  definition: Required<Omit<Definition<P, R>, 'long' | 'inOrder'>> & { cached?: Cached },
): Lookup<P, R> {
  return { ...batchStatement(definition), lookup: true, cached: definition.cached }
}
