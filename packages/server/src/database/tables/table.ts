import type { Columns, ColumnType } from '../statement.ts'

/**
 * One table of the schema. Statements take their column types from here (`pick`), and so do the
 * explorer, the doctor and the test tools. The migrations say the same as plain SQL; a test holds
 * both together.
 */
export type Table<C extends Columns = Columns, N extends string = string> = {
  readonly name: N
  readonly columns: C
  /** The primary key, in its order. */
  readonly key: readonly (keyof C & string)[]
  /** The column that counts up and whose numbers never come again. */
  readonly sequence: (keyof C & string) | undefined
  /** Columns that the explorer redacts although their names do not say so. */
  readonly sensitive: readonly (keyof C & string)[]
  /** Whether the explorer shows it: to all its readers, to a human admin alone, or to nobody. */
  readonly visibility: 'shown' | 'protected' | 'hidden'
  /** Whether the number of its rows is kept in the table `totals`. */
  readonly counted: boolean
}

type Facts<C extends Columns> = Pick<Table<C>, 'columns' | 'key'> &
  Partial<Pick<Table<C>, 'sequence' | 'sensitive' | 'visibility'>>

/**
 * Declares a table. A new one is a migration, a declaration, and a line in `index.ts`.
 *
 * @example
 * export const groups = defineTable('groups', {
 *   columns: { id: 'integer', name: 'text', open: 'flag', created_at_unix_ms: 'time' },
 *   key: ['id'],
 *   sequence: 'id',
 * })
 */
export function defineTable<
  const C extends Columns,
  const N extends string,
  const K extends boolean = false,
>(name: N, facts: Facts<C> & { counted?: K }): Table<C, N> & { readonly counted: K } {
  const counted = (facts.counted ?? false) as K
  return { name, sequence: undefined, sensitive: [], visibility: 'shown', ...facts, counted }
}

/**
 * The types of some columns, for the row or the parameters of a statement.
 *
 * @example
 * const groupRow = pick(groups, 'id', 'name', 'open')
 */
export function pick<C extends Columns, K extends keyof C & string>(
  { columns }: Table<C>,
  ...names: readonly K[]
): Pick<C, K> {
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<C, K>
}

/**
 * The types of all columns but some.
 *
 * @example
 * const newGroup = without(groups, 'id')
 */
export function without<C extends Columns, K extends keyof C & string>(
  { columns }: Table<C>,
  ...names: readonly K[]
): Omit<C, K> {
  const left = Object.entries(columns).filter(([name]) => !names.some((each) => each === name))
  return Object.fromEntries(left) as Omit<C, K>
}

/** How the engines store a column: what it holds before its type is looked at. */
export function storedAs(type: ColumnType): 'text' | 'bigint' | 'bytes' {
  if (typeof type === 'object') return 'text'
  switch (type) {
    case 'text':
    case 'text?':
    case 'json':
    case 'json?':
      return 'text'
    case 'bytes':
    case 'bytes?':
      return 'bytes'
    default:
      return 'bigint'
  }
}
