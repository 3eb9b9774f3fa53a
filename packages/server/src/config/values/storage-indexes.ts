import { storageName } from '@guildhall/contract'
import type { StorageIndex } from '../key.ts'
import { type Fault, quoted } from '../problem.ts'

/** Reads the entries of `storage.indexes`; a fault when one of them is not as it must be. */
export function readStorageIndexes(list: readonly unknown[]): StorageIndex[] | Fault {
  const indexes: StorageIndex[] = []
  const names = new Set<string>()
  for (const [position, entry] of list.entries()) {
    const index = readIndex(entry)
    const fault = (wrong: string): Fault => ({ wrong: `entry ${position + 1} ${wrong}`, allowed })
    if (typeof index === 'string') return fault(index)
    if (names.has(index.name)) return fault(`repeats the name ${quoted(index.name)}`)
    names.add(index.name)
    indexes.push(index)
  }
  return indexes
}

export const indexShape =
  'name (identifier of 1 to 40 characters), collection (1 to 128 bytes), optionally key ' +
  '(1 to 128 bytes), fields (1 to 8 identifiers of 1 to 64 characters), optionally ordered ' +
  '(some of the fields)'

const allowed = `tables of ${indexShape}; each name once`

const members = new Set(['name', 'collection', 'key', 'fields', 'ordered'])

/** Answers with the index, or with what is wrong with the entry. */
function readIndex(entry: unknown): StorageIndex | string {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return 'is not a table'
  const given = new Map<string, unknown>(Object.entries(entry))
  const stranger = [...given.keys()].find((name) => !members.has(name))
  if (stranger !== undefined) return `has an unknown member ${quoted(stranger)}`
  const name = given.get('name')
  const collection = given.get('collection')
  const key = given.get('key')
  const fields = given.get('fields')
  if (!isIdentifier(name, 40)) return 'has no usable name'
  if (!isStorageName(collection)) return 'has no usable collection'
  if (key !== undefined && !isStorageName(key)) return 'has no usable key'
  if (!isFieldList(fields)) return 'has no usable fields'
  const ordered = given.get('ordered')
  if (ordered === undefined) return { name, collection, key, fields }
  if (!isPartOf(ordered, fields)) return 'has no usable ordered'
  return { name, collection, key, fields, ordered }
}

function isFieldList(value: unknown): value is string[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > 8) return false
  return value.every((field) => isIdentifier(field, 64))
}

function isPartOf(value: unknown, fields: readonly string[]): value is string[] {
  return Array.isArray(value) && value.every((field) => fields.includes(field))
}

function isIdentifier(value: unknown, charsMax: number): value is string {
  return (
    typeof value === 'string' && value.length <= charsMax && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value)
  )
}

/** As the storage routes have it. */
function isStorageName(value: unknown): value is string {
  return storageName.safeParse(value).success
}
