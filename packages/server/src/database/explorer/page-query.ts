import type { GivenValue, PageQuery, Relation, StoredValue } from './explorer.ts'

/** Text with the values of its parameters, numbered from 1. */
export type ExplorerStatement = { text: string; values: readonly GivenValue[] }

/** How an engine spells what a page needs. */
export type PageDialect = {
  /** A parameter, compared with a column of this type. */
  parameter(number: number, dataType: string): string
  contains(column: string, parameter: string): string
  /** Where a nullable column puts its nulls first ascending and last descending by itself. */
  readonly ordersNulls: boolean
}

/** Names come from the catalogue of the database only, and are quoted all the same. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The conditions, the order and the limit of a page, to stand behind FROM. */
export function pageClauses(
  relation: Relation,
  query: PageQuery,
  dialect: PageDialect,
): { where: string[]; orderBy: string; values: GivenValue[] } {
  const values: GivenValue[] = []
  const parameter = (column: string, value: GivenValue) => {
    values.push(value)
    return dialect.parameter(values.length, columnOf(relation, column).compared_as)
  }
  const where = query.filters.map(({ column, operator, value }) => {
    if (operator === 'null') return `${quoted(column)} IS NULL`
    if (operator === 'not null') return `${quoted(column)} IS NOT NULL`
    if (operator !== 'contains') return `${quoted(column)} ${operator} ${parameter(column, value)}`
    values.push(value)
    return dialect.contains(quoted(column), dialect.parameter(values.length, 'text'))
  })
  if (query.after !== undefined)
    where.push(behind(relation, query, { after: query.after, parameter }))
  const { columns, direction } = query.order
  const orderBy = columns.map((column) => {
    const order = `${quoted(column)} ${direction.toUpperCase()}`
    if (dialect.ordersNulls || !columnOf(relation, column).nullable) return order
    return `${order} NULLS ${direction === 'asc' ? 'FIRST' : 'LAST'}`
  })
  return { where, orderBy: orderBy.join(', '), values }
}

type Behind = {
  after: readonly StoredValue[]
  parameter: (column: string, value: GivenValue) => string
}

/** Rows behind a place in the order: one comparison of rows, unless a column may hold null. */
function behind(relation: Relation, { order }: PageQuery, { after, parameter }: Behind): string {
  const { columns, direction } = order
  const beyond = direction === 'asc' ? '>' : '<'
  if (columns.every((column) => !columnOf(relation, column).nullable)) {
    const given = columns.map((column, at) => parameter(column, after[at] ?? null))
    return `(${columns.map(quoted).join(', ')}) ${beyond} (${given.join(', ')})`
  }
  const equal = (column: string, at: number) => {
    const value = after[at] ?? null
    return value === null
      ? `${quoted(column)} IS NULL`
      : `${quoted(column)} = ${parameter(column, value)}`
  }
  const further = (column: string, value: StoredValue) => {
    const name = quoted(column)
    if (value === null) return `${name} IS NOT NULL`
    const comparison = `${name} ${beyond} ${parameter(column, value)}`
    return direction === 'asc' ? comparison : `(${comparison} OR ${name} IS NULL)`
  }
  // Equal in all columns before one of them, and further in that one.
  const ways = columns.flatMap((column, at) => {
    const value = after[at] ?? null
    // Descending, nothing comes behind null.
    if (value === null && direction === 'desc') return []
    return [[...columns.slice(0, at).map(equal), further(column, value)].join(' AND ')]
  })
  return ways.length === 0 ? '1 = 0' : `(${ways.map((way) => `(${way})`).join(' OR ')})`
}

function columnOf({ columns }: Relation, name: string) {
  const column = columns.find((each) => each.name === name)
  if (column === undefined) throw new Error('the relation has no such column')
  return column
}
