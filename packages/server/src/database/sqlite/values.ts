import type { SQLInputValue } from 'node:sqlite'
import { int64Max, int64Min } from '@guildhall/contract'
import type { Columns } from '../statement.ts'

/** Any value a column can hold, before its declared type is looked at. */
export type Value = string | number | bigint | Uint8Array | null
export type AnyRow = { [column: string]: Value }

export type Encode = (value: unknown) => SQLInputValue | undefined

/** Encoders in the order of the parameters; each answers undefined for a value of another type. */
export function encodersOf(params: Columns): Encode[] {
  return Object.values(params).map((type) => {
    if (type.endsWith('?')) {
      const encode = encoders[type.slice(0, -1)] ?? refuse
      return (value) => (value === null ? null : encode(value))
    }
    return encoders[type] ?? refuse
  })
}

/** Whether a row's integers are read as bigint: all of them are, or none. */
export function readsBigInts(row: Columns): boolean {
  return Object.values(row).some((type) => type.startsWith('bigint'))
}

/**
 * Makes rows of the values of the columns `answered`. SQLite's own objects are slow to make and to
 * read: their names are looked up for each answer, and no two of them share a shape.
 */
export function decoderOf(row: Columns, answered: readonly string[]): (values: Value[]) => AnyRow {
  // Integers that come back as bigint only because a neighbour has to.
  const narrowed = answered.map((column) => {
    return readsBigInts(row) && (row[column]?.startsWith('integer') ?? false)
  })
  // A copy of it has all its columns within itself; one that gets them one by one grows a tail.
  const blank: AnyRow = JSON.parse(
    JSON.stringify(Object.fromEntries(answered.map((column) => [column, null]))),
  )
  return (values) => {
    const decoded = { ...blank }
    for (let at = 0; at < answered.length; at += 1) {
      const column = answered[at] ?? ''
      const value = values[at] ?? null
      decoded[column] = narrowed[at] && typeof value === 'bigint' ? narrow(value, column) : value
    }
    return decoded
  }
}

function narrow(value: bigint, column: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${column} is beyond 2^53 - 1`)
  return number
}

const encoders: { readonly [type: string]: Encode } = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  // A JavaScript number would be bound as a floating-point value; a bigint is bound as an integer.
  integer: (value) => (Number.isSafeInteger(value) ? BigInt(value as number) : undefined),
  bigint: (value) =>
    typeof value === 'bigint' && value >= int64Min && value <= int64Max ? value : undefined,
  bytes: (value) => (value instanceof Uint8Array ? value : undefined),
}

function refuse(): undefined {
  return undefined
}
