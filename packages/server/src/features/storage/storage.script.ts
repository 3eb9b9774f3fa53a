import type { JsonObject, storageScript } from '@guildhall/contract'
import { readJson } from '../../kernel/json/json-reader.ts'
import type { ScriptPart } from '../../kernel/script.ts'
import type { createQueries } from './storage.queries.ts'
import type { createStorageRuntime, ReadObject } from './storage.runtime.ts'

type Deps = ReturnType<typeof createStorageRuntime> &
  Pick<ReturnType<typeof createQueries>, 'query'>

/** Stored objects for the game's script. `as` names the user in whose right a call acts. */
export function storageFunctions(storage: Deps): ScriptPart<typeof storageScript> {
  return {
    storage_read: async (_caller, { options, ...address }) => {
      const row = await storage.read(address, options)
      return row === undefined ? null : objectOf(row)
    },
    storage_write: (_caller, { options: { as, ...conditions }, ...object }) =>
      storage.write({ ...object, ...conditions }, { as }),
    storage_delete: (_caller, { options: { as, version }, ...address }) =>
      storage.remove({ ...address, version }, { as }),
    storage_index_query: async (_caller, { index, filters, options: { as, ...page } }) => {
      const { items, next } = await storage.query(index, filters, page)
      const shown = items.filter((row) => isReadable(row, as))
      return {
        items: shown.map((row) => ({
          user_id: row.user_id,
          collection: row.collection,
          key: row.key,
          ...objectOf(row),
        })),
        next,
      }
    },
    storage_write_many: async (_caller, { ops, options }) => {
      const wishes = ops.map((op) => (op.op === 'write' ? op : { ...op, remove: true as const }))
      return [...(await storage.writeAll(wishes, options))]
    },
  }
}

function objectOf({ value_json, version, read_permission, write_permission }: ReadObject) {
  return { value: parsedValue(value_json), version, read_permission, write_permission }
}

/** The column holds what a write made canonical. */
function parsedValue(text: string): JsonObject {
  const { value } = readJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new Error('the value of an object is no object')
}

function isReadable({ user_id, read_permission }: ReadObject, as: string | undefined): boolean {
  return as === undefined || read_permission === 2 || (read_permission === 1 && user_id === as)
}
