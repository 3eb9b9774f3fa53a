import { type DatabaseFilter, int64Max, int64Min } from '@guildhall/contract'
import type {
  GivenValue,
  PageFilter,
  Relation,
  RelationColumn,
} from '../../database/explorer/explorer.ts'
import { refuse } from '../../kernel/failure.ts'
import { declaredType, isSensitive } from './database.marks.ts'

/** @throws Failure `invalid_request` for a column that cannot be asked for, or a value of none */
export function pageFilters(
  relation: Relation,
  filters: readonly DatabaseFilter[],
): readonly PageFilter[] {
  return filters.map((filter) => pageFilter(relation, filter))
}

/** The column of this name, unless it may not be looked at. */
export function visibleColumn(relation: Relation, name: string): RelationColumn {
  const column = relation.columns.find((each) => each.name === name)
  if (column === undefined) throw refuse.invalid('there is no such column')
  if (isSensitive(relation.name, name)) throw refuse.invalid('the column is sensitive')
  return column
}

const comparisons = { eq: '=', neq: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

function pageFilter(relation: Relation, filter: DatabaseFilter): PageFilter {
  const { operator, value } = filter
  const column = visibleColumn(relation, filter.column)
  const of = (operator: PageFilter['operator'], value: GivenValue): PageFilter => {
    return { column: column.name, operator, value }
  }
  if (operator === 'is_null') {
    if (value !== undefined) throw refuse.invalid('is_null takes no value')
    return of('null', null)
  }
  if (value === undefined) throw refuse.invalid(`${operator} needs a value`)
  if (value === null) {
    if (operator === 'eq') return of('null', null)
    if (operator === 'neq') return of('not null', null)
    throw refuse.invalid(`${operator} takes no null`)
  }
  if (operator === 'contains') {
    if (column.values !== 'text') throw refuse.invalid('contains is for columns of text')
    if (typeof value !== 'string') throw refuse.invalid('contains takes a text')
    return of('contains', value)
  }
  const type = declaredType(relation.name, column.name)
  const isFlag = type === 'flag' || type === 'flag?'
  const given = isFlag && typeof value === 'boolean' ? BigInt(value) : givenValue(column, value)
  if (given === undefined) throw refuse.invalid("a filter's value is not of its column's type")
  return of(comparisons[operator], given)
}

type Scalar = string | number | bigint | boolean

/** The value as the column compares with it; undefined when it is of another type. */
function givenValue({ values }: RelationColumn, value: Scalar): GivenValue | undefined {
  switch (values) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'integer':
      return integerOf(value)
    case 'decimal':
      return decimalOf(value)
    case 'bytes':
      return typeof value === 'string' ? bytesOf(value) : undefined
    case 'text':
      return typeof value === 'string' ? value : undefined
    case 'timestamp':
      return typeof value === 'string' && rfc3339.test(value) ? value : undefined
    case 'json':
      return undefined
    case 'any':
      return integerOf(value) ?? value
    default:
      return String(value)
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

function integerOf(value: Scalar): bigint | undefined {
  if (typeof value === 'number' && Number.isInteger(value)) return inRange(BigInt(value))
  return typeof value === 'bigint' ? inRange(value) : undefined
}

function inRange(value: bigint): bigint | undefined {
  return value >= int64Min && value <= int64Max ? value : undefined
}

/** As text, so that none of its digits is lost. */
function decimalOf(value: Scalar): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  const isDecimal = typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)
  return isDecimal ? value : undefined
}

/** Standard base64 with its padding, and nothing else. */
function bytesOf(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
