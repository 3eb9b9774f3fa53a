import { int64Max, int64Min, stringifyExact } from '@guildhall/contract'
import { readObject } from '../../kernel/json/free-json.ts'
import { isObject, readOneOf } from '../engine/declared-values.ts'
import { checkColumns } from '../engine/dialect.ts'
import {
  type Columns,
  type ColumnType,
  isNullable,
  type OneOf,
  type Row,
  type Statement,
  typeText,
} from '../statement.ts'

/** A parameter as the wire takes it: text, or bytes in the type's binary form. */
export type WireValue = string | Buffer | null

/** The name of a type in casts: `$1::bigint`. */
export function typeName(type: ColumnType): string {
  return spellingOf(type).name
}

/** Encodes the parameters of one call, in order. */
export function createEncoder(name: string, params: Columns): (row: object) => WireValue[] {
  const columns = columnsOf(params)
  return (row) => {
    const given = row as { readonly [column: string]: unknown }
    const values: WireValue[] = []
    for (const { column, kind, nullable, spelling } of columns) {
      const value = given[column]
      if (value === null && nullable) values.push(null)
      else if (spelling.accepts(value)) values.push(spelling.encode(value))
      else throw new TypeError(`${name}: :${column} must be ${kind}`)
    }
    return values
  }
}

/** Encodes many rows as one binary array per parameter, so that any number is one statement. */
export function createBatchEncoder(
  name: string,
  params: Columns,
): (rows: readonly object[]) => WireValue[] {
  const columns = columnsOf(params)
  return (rows) =>
    columns.map(({ column, kind, nullable, spelling }) => {
      const elements: (Buffer | null)[] = []
      let size = arrayHeaderBytes
      for (const row of rows) {
        const value = (row as { readonly [column: string]: unknown })[column]
        const isNull = value === null && nullable
        if (!isNull && !spelling.accepts(value)) {
          throw new TypeError(`${name}: ${column} must be ${kind}`)
        }
        const element = isNull ? null : spelling.binary(value)
        elements.push(element)
        size += 4 + (element?.length ?? 0)
      }
      return binaryArray(spelling.oid, elements, size)
    })
}

/** Makes rows of what the server answers, which is text in the order of its columns. */
export function createDecoder<R extends Columns>(
  statement: Statement<Columns, R>,
): (fields: readonly { name: string }[]) => (values: readonly (string | null)[]) => Row<R> {
  const columns = columnsOf(statement.row)
  return (fields) => {
    const answered = fields.map((field) => field.name)
    checkColumns(statement, answered)
    const plan = columns.map(({ column, spelling }) => {
      return { column, at: answered.indexOf(column), decode: spelling.decode }
    })
    return (values) => {
      const decoded: { [column: string]: unknown } = {}
      for (const { column, at, decode } of plan) {
        const value = values[at]
        decoded[column] = value === null || value === undefined ? null : decode(value, column)
      }
      return decoded as Row<R>
    }
  }
}

type Spelling = {
  readonly name: string
  readonly oid: number
  accepts(value: unknown): boolean
  encode(value: unknown): WireValue
  binary(value: unknown): Buffer
  decode(text: string, column: string): unknown
}

const text: Spelling = {
  name: 'text',
  oid: 25,
  accepts: (value) => typeof value === 'string',
  encode: (value) => value as string,
  binary: (value) => Buffer.from(value as string, 'utf8'),
  decode: (stored) => stored,
}

const integer: Spelling = {
  name: 'bigint',
  oid: 20,
  accepts: (value) => Number.isSafeInteger(value),
  encode: (value) => String(value),
  binary: (value) => int64(BigInt(value as number)),
  decode: exactNumber,
}

const spelled: { readonly [type in Exclude<ColumnType, OneOf | `${string}?`>]: Spelling } = {
  text,
  integer,
  time: integer,
  flag: {
    ...integer,
    accepts: (value) => typeof value === 'boolean',
    encode: (value) => (value === true ? '1' : '0'),
    binary: (value) => int64(value === true ? 1n : 0n),
    decode: (stored) => exactNumber(stored) !== 0,
  },
  json: {
    ...text,
    accepts: isObject,
    encode: stringifyExact,
    binary: (value) => Buffer.from(stringifyExact(value), 'utf8'),
    decode: readObject,
  },
  bigint: {
    name: 'bigint',
    oid: 20,
    accepts: (value) => typeof value === 'bigint' && value >= int64Min && value <= int64Max,
    encode: (value) => String(value),
    binary: (value) => int64(value as bigint),
    decode: (text) => BigInt(text),
  },
  bytes: {
    name: 'bytea',
    oid: 17,
    accepts: (value) => value instanceof Uint8Array,
    encode: (value) => asBuffer(value as Uint8Array),
    binary: (value) => asBuffer(value as Uint8Array),
    // `\x` and hex digits, as every connection asks for at its start.
    decode: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  },
}

function exactNumber(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  // A comparison answers with a boolean here and with 0 or 1 on SQLite.
  if (text === 't') return 1
  if (text === 'f') return 0
  throw new RangeError('an integer column is beyond 2^53 - 1')
}

function columnsOf(columns: Columns) {
  return Object.entries(columns).map(([column, type]) => {
    return { column, kind: typeText(type), nullable: isNullable(type), spelling: spellingOf(type) }
  })
}

function spellingOf(type: ColumnType): Spelling {
  if (typeof type === 'object') {
    return {
      ...text,
      accepts: (value) => value !== null && type.oneOf.some((known) => known === value),
      decode: (stored, column) => readOneOf(type, stored, column),
    }
  }
  return spelled[baseOf(type)]
}

function baseOf(type: Exclude<ColumnType, OneOf>): keyof typeof spelled {
  return (type.endsWith('?') ? type.slice(0, -1) : type) as keyof typeof spelled
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Dimensions, null flag, element type, length and lower bound. */
const arrayHeaderBytes = 20

function binaryArray(oid: number, elements: readonly (Buffer | null)[], size: number): Buffer {
  const array = Buffer.allocUnsafe(size)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(elements.includes(null) ? 1 : 0, 4)
  array.writeInt32BE(oid, 8)
  array.writeInt32BE(elements.length, 12)
  array.writeInt32BE(1, 16)
  let at = arrayHeaderBytes
  for (const element of elements) {
    array.writeInt32BE(element ? element.length : -1, at)
    at += 4
    if (element) at += element.copy(array, at)
  }
  return array
}
