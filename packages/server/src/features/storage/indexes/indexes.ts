import { type JsonObject, utf8Bytes } from '@guildhall/contract'
import type { Place } from '../storage.store.ts'
import type { IndexRow } from './index.store.ts'
import { ascending, descending } from './ordered-text.ts'

/** An index as it is declared. */
export type IndexDeclaration = {
  readonly name: string
  readonly collection: string
  /** Only objects with this key are covered. */
  readonly key?: string | undefined
  readonly fields: readonly string[]
  /** Those of the fields that queries may order by. */
  readonly ordered?: readonly string[] | undefined
}

/** An index as the database knows it. */
export type StorageIndex = {
  id: number
  name: string
  collection: string
  key: string | undefined
  fields: readonly string[]
  ordered: readonly string[]
  /** Whether it asks a filter, here or on any other node. */
  filtered: boolean
}

/** What an index says of an object: one field and its value, as text. */
export type IndexEntry = { field: string; value: string }

/** The entry that every object of an index has; no declared field has an empty name. */
export const coveredEntry: IndexEntry = { field: '', value: '' }

/** Longer texts are not indexed, in bytes. */
export const indexedTextBytesMax = 256

export function covers({ collection, key }: IndexDeclaration, place: Place): boolean {
  return collection === place.collection && (key === undefined || key === place.key)
}

/** The entries of an object: one for itself, one for each declared field that can have one. */
export function entriesOf(
  { fields, ordered }: Pick<StorageIndex, 'fields' | 'ordered'>,
  value: JsonObject,
): IndexEntry[] {
  const entries = [coveredEntry]
  for (const field of fields) {
    const text = Object.hasOwn(value, field) ? indexedText(value[field]) : undefined
    if (text === undefined) continue
    entries.push({ field, value: text })
    if (ordered.includes(field)) entries.push(...orderedEntries(field, value[field]))
  }
  return entries
}

/** Both directions are walked upwards, so that ties ascend in each of them. */
function orderedEntries(field: string, value: unknown): IndexEntry[] {
  return [ascending, descending].map((direction) => {
    return { field: direction.fieldOf(field), value: direction.textOf(value) }
  })
}

/**
 * A value as entries hold it, or undefined for one that is not indexed. Its type comes first, so
 * that the text "1" is not the number 1; U+0000, which no column takes, is written with U+0001.
 */
export function indexedText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      if (value.length > indexedTextBytesMax || utf8Bytes(value) > indexedTextBytesMax) {
        return undefined
      }
      return value.isWellFormed() ? `s${withoutNul(value)}` : undefined
    case 'number':
      return Number.isFinite(value) ? `n${value}` : undefined
    case 'bigint':
      return `n${value}`
    case 'boolean':
      return `b${value ? 1 : 0}`
    default:
      return undefined
  }
}

function withoutNul(text: string): string {
  const escaped = text.includes('\u0001') ? text.replaceAll('\u0001', '\u0001\u0001') : text
  return escaped.includes('\0') ? escaped.replaceAll('\0', '\u0001\u0002') : escaped
}

/** Two declarations of the same index have the same text; what is ordered stands there twice. */
export function fieldsText({ fields, ordered = [] }: Pick<IndexDeclaration, 'fields' | 'ordered'>) {
  const marked = ordered.map((field) => ascending.fieldOf(field))
  return [...new Set([...fields, ...marked])].sort().join(',')
}

/** Whether the row is what is declared now. */
export function isSame(row: IndexRow, declared: IndexDeclaration): boolean {
  return (
    row.name === declared.name &&
    row.collection === declared.collection &&
    row.key === (declared.key ?? null) &&
    row.fields === fieldsText(declared)
  )
}

export function indexOf({ id, name, collection, key, fields, filtered }: IndexRow): StorageIndex {
  const names = fields.split(',')
  const own = names.filter((field) => !field.startsWith('+'))
  return {
    id,
    name,
    collection,
    key: key ?? undefined,
    fields: own,
    ordered: own.filter((field) => names.includes(ascending.fieldOf(field))),
    filtered,
  }
}
