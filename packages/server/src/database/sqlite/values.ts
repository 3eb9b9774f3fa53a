import type { SQLInputValue } from 'node:sqlite'
import { int64Max, int64Min, type JsonObject, stringifyExact } from '@guildhall/contract'
import { readObject } from '../../kernel/json/free-json.ts'
import { isObject, readOneOf } from '../engine/declared-values.ts'
import type { Columns, ColumnType } from '../statement.ts'

/** Any value a column can hold, before its declared type is looked at. */
export type Value = string | number | bigint | Uint8Array | null
export type AnyRow = { [column: string]: Value | boolean | JsonObject }

export type Encode = (value: unknown) => SQLInputValue | undefined

/** Encoders in the order of the parameters; each answers undefined for a value of another type. */
export function encodersOf(params: Columns): Encode[] {
  return Object.values(params).map(encoderOf)
}

/** Whether a row's integers are read as bigint: all of them are, or none. */
export function readsBigInts(row: Columns): boolean {
  return Object.values(row).some((type) => type === 'bigint' || type === 'bigint?')
}

/**
 * Makes rows of the values of the columns `answered`. SQLite's own objects are slow to make and to
 * read: their names are looked up for each answer, and no two of them share a shape.
 */
export function decoderOf(row: Columns, answered: readonly string[]): (values: Value[]) => AnyRow {
  const wide = readsBigInts(row)
  const decoders = answered.map((column) => decoderOfType(row[column], column, wide))
  // A copy of it has all its columns within itself; one that gets them one by one grows a tail.
  const blank: AnyRow = JSON.parse(
    JSON.stringify(Object.fromEntries(answered.map((column) => [column, null]))),
  )
  return (values) => {
    const decoded = { ...blank }
    for (let at = 0; at < answered.length; at += 1) {
      const value = values[at] ?? null
      const decode = decoders[at]
      decoded[answered[at] ?? ''] = decode === undefined ? value : decode(value)
    }
    return decoded
  }
}

type Decode = (value: Value) => AnyRow[string]

/**
 * Undefined leaves the value as it is.
 *
 * @param wide Whether integers come as bigint because a neighbour has to.
 */
function decoderOfType(
  type: ColumnType | undefined,
  column: string,
  wide: boolean,
): Decode | undefined {
  if (typeof type === 'object') return (value) => readOneOf(type, value, column)
  switch (type) {
    case 'integer':
    case 'integer?':
    case 'time':
    case 'time?':
      return wide ? (value) => narrow(value, column) : undefined
    case 'flag':
    case 'flag?':
      return (value) => (value === null ? null : Number(value) !== 0)
    case 'json':
    case 'json?':
      return (value) => (value === null ? null : readObject(String(value)))
    default:
      return undefined
  }
}

function narrow(value: Value, column: string): Value {
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${column} is beyond 2^53 - 1`)
  return number
}

function encoderOf(type: ColumnType): Encode {
  if (typeof type === 'object') {
    return (value) => type.oneOf.find((known) => known === value)
  }
  if (!type.endsWith('?')) return encoders[type] ?? refuse
  const encode = encoders[type.slice(0, -1)] ?? refuse
  return (value) => (value === null ? null : encode(value))
}

// A JavaScript number would be bound as a floating-point value; a bigint is bound as an integer.
const integer: Encode = (value) =>
  Number.isSafeInteger(value) ? BigInt(value as number) : undefined

const encoders: { readonly [type: string]: Encode } = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  integer,
  time: integer,
  bigint: (value) =>
    typeof value === 'bigint' && value >= int64Min && value <= int64Max ? value : undefined,
  bytes: (value) => (value instanceof Uint8Array ? value : undefined),
  flag: (value) => (typeof value === 'boolean' ? BigInt(value) : undefined),
  json: (value) => (isObject(value) ? stringifyExact(value) : undefined),
}

function refuse(): undefined {
  return undefined
}
