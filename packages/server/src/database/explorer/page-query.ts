import type { GivenValue, PageQuery, Relation, StoredValue } from './explorer.ts'

/** Text with the values of its parameters, numbered from 1. One that comes again has a name. */
export type ExplorerStatement = { name?: string; text: string; values: readonly GivenValue[] }

/** How an engine spells what a page needs. */
export type PageDialect = {
  /** A parameter, compared with a column of this type. */
  parameter(number: number, dataType: string): string
  contains(column: string, parameter: string): string
}

/** Names come from the catalogue of the database only, and are quoted all the same. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A part of a page: its rows come before all of the next part. */
export type PagePart = { relation: Relation; query: PageQuery }

/**
 * A page by a column that may be null, in two parts, for an engine whose indexes have nulls at the
 * other end: the nulls by the other columns of the order, which must not be null, and the rest. An
 * index on the column serves both. The place after which the page begins says in which it lies.
 */
export function pageParts(relation: Relation, query: PageQuery): PagePart[] {
  const { filters, order, after } = query
  const [column = '', ...others] = order.columns
  if (!columnOf(relation, column).nullable) return [{ relation, query }]
  const isNull = { column, operator: 'null', value: null } as const
  const isValue = { column, operator: 'not null', value: null } as const
  const beginsIn = after && (after[0] === null ? 'nulls' : 'values')
  const nulls: PagePart = {
    relation,
    query: {
      ...query,
      filters: [...filters, isNull],
      order: { ...order, columns: others },
      after: beginsIn === 'nulls' ? after?.slice(1) : undefined,
    },
  }
  const columns = relation.columns.map((each) => {
    return each.name === column ? { ...each, nullable: false } : each
  })
  const values: PagePart = {
    relation: { ...relation, columns },
    query: {
      ...query,
      filters: [...filters, isValue],
      after: beginsIn === 'values' ? after : undefined,
    },
  }
  const [first, last] = order.direction === 'asc' ? [nulls, values] : [values, nulls]
  const beginsInLast = beginsIn === (last === nulls ? 'nulls' : 'values')
  return beginsInLast ? [last] : [first, last]
}

/**
 * The conditions, the order and the limit of a page, to stand behind FROM. Adds the values of its
 * parameters to `values`. Nulls stand where the engine has them.
 */
export function pageClauses(
  { relation, query }: PagePart,
  dialect: PageDialect,
  values: GivenValue[],
): { where: string[]; orderBy: string } {
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
  const orderBy = columns.map((column) => `${quoted(column)} ${direction.toUpperCase()}`)
  // The nulls of a relation without a key have no order.
  return { where, orderBy: orderBy.length === 0 ? '' : `ORDER BY ${orderBy.join(', ')}` }
}

type Behind = {
  after: readonly StoredValue[]
  parameter: (column: string, value: GivenValue) => string
}

/**
 * Rows behind a place in the order: one comparison of rows, unless a column may hold null, which
 * comes first ascending.
 */
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
