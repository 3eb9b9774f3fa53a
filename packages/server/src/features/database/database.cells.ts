import type { DatabaseCell, Json } from '@guildhall/contract'
import type { Relation, RelationColumn, StoredValue } from '../../database/explorer/explorer.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { readJson } from '../../kernel/json/json-reader.ts'
import { declaredType, isSensitive } from './database.marks.ts'

/** The cells of a row, the columns in text order; a Map, so that it stays the order. */
export function cellsOf(
  relation: Relation,
  row: readonly StoredValue[],
): ReadonlyMap<string, DatabaseCell> {
  const cells = relation.columns.map((column, at): [string, DatabaseCell] => {
    return [column.name, cellOf(relation.name, column, row[at] ?? null)]
  })
  return new Map(cells.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
}

/** Says whether a row is still what it was, without keeping it. */
export function digestOf(row: readonly StoredValue[]): string {
  const parts = row.map((value) => {
    const text = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
    return `${value === null ? 'null' : typeof value}:${text.length}:${text}`
  })
  return sha256(parts.join(',')).toString('base64url')
}

/**
 * A column of the game is shown as the API shows it (flags, JSON, times in Unix milliseconds), any
 * other by its type in the database.
 */
function cellOf(table: string, column: RelationColumn, value: StoredValue): DatabaseCell {
  if (isSensitive(table, column.name)) return { kind: 'redacted' }
  if (value === null) return { kind: 'null' }
  const type = declaredType(table, column.name)
  if (type === 'flag' || type === 'flag?') {
    const text = String(value)
    if (text === '0' || text === '1') return { kind: 'boolean', value: text === '1' }
  }
  if (type === 'json' || type === 'json?') return jsonCell(String(value))
  return typeof value === 'string' ? cellOfText(column, value) : cellOfValue(value)
}

/** What a file answers shows its type by itself, whatever the column was declared as. */
function cellOfValue(value: number | bigint | Uint8Array): DatabaseCell {
  if (typeof value === 'bigint') return { kind: 'integer', value }
  if (typeof value === 'number') return { kind: 'decimal', value: String(value) }
  return { kind: 'binary_base64', value: Buffer.from(value).toString('base64') }
}

/** What PostgreSQL answers is text in any case; a file has text in whatever column it was put. */
function cellOfText({ data_type, values }: RelationColumn, text: string): DatabaseCell {
  switch (values) {
    case 'boolean':
      return { kind: 'boolean', value: text === 't' }
    case 'integer':
      return /^-?\d+$/.test(text) ? { kind: 'integer', value: BigInt(text) } : textCell(text)
    case 'decimal':
      return decimal.test(text) ? { kind: 'decimal', value: text } : textCell(text)
    case 'bytes':
      if (data_type !== 'bytea') return textCell(text)
      return { kind: 'binary_base64', value: Buffer.from(text.slice(2), 'hex').toString('base64') }
    case 'json':
      return jsonCell(text)
    case 'timestamp':
      return timestampCell(text)
    default:
      return textCell(text)
  }
}

const decimal = /^(-?\d[\d.eE+-]*|NaN|-?Infinity)$/

function textCell(value: string): DatabaseCell {
  return { kind: 'text', value }
}

function jsonCell(text: string): DatabaseCell {
  let value: Json
  try {
    value = readJson(text).value
  } catch {
    return textCell(text)
  }
  return { kind: 'json', value }
}

/** Times before Christ and beyond all times have no form in RFC 3339. */
function timestampCell(text: string): DatabaseCell {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/.exec(text) ?? []
  return day === undefined ? textCell(text) : { kind: 'timestamp', value: `${day}T${time}Z` }
}
