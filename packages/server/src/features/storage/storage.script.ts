import type { storageDelete, storageScript, storageWrite } from '@guildhall/contract'
import type { z } from 'zod'
import { readObject } from '../../kernel/json/free-json.ts'
import type { ScriptPart } from '../../kernel/play/script.ts'
import type { createQueries } from './indexes/queries.ts'
import type {
  createStorageRuntime,
  ObjectPage,
  ObjectRemoval,
  ObjectWrite,
  ReadObject,
} from './storage.runtime.ts'

/** A write or a delete among the operations of one call. */
export type ObjectOperation =
  | z.output<ReturnType<typeof storageWrite>>
  | z.output<ReturnType<typeof storageDelete>>

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
    storage_list: async (_caller, { options: { as, ...page }, ...place }) =>
      pageOf(await storage.list({ ...place, ...page }, { as })),
    storage_index_query: async (_caller, { index, filters, options: { as, ...page } }) => {
      const { items, next } = await storage.query(index, filters, page)
      return pageOf({ items: items.filter((row) => isReadable(row, as)), next })
    },
    storage_write_many: async (_caller, { ops, options }) => [
      ...(await storage.writeAll(ops.map(changeOf), options)),
    ],
  }
}

function objectOf({ value_json, version, read_permission, write_permission }: ReadObject) {
  return { value: readObject(value_json), version, read_permission, write_permission }
}

function pageOf({ items, next }: ObjectPage) {
  const rows = items.map((row) => {
    const { user_id, collection, key } = row
    return { user_id, collection, key, ...objectOf(row) }
  })
  return { items: rows, next }
}

function isReadable({ user_id, read_permission }: ReadObject, as: string | undefined): boolean {
  return as === undefined || read_permission === 2 || (read_permission === 1 && user_id === as)
}

/** An operation of a script as a change. */
export function changeOf(operation: ObjectOperation): ObjectWrite | ObjectRemoval {
  return operation.op === 'write' ? operation : { ...operation, remove: true }
}
