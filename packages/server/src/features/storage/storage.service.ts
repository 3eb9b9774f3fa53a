import type { JsonObject, StorageObject, StorageRow, storageApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries } from '../../database/database.ts'
import { refuse } from '../../kernel/failure.ts'
import { readObject } from '../../kernel/json/free-json.ts'
import type { Mutation } from '../../kernel/mutation.ts'
import type { StorageFilters } from './indexes/filters.ts'
import { cursorOf, positionOf } from './storage.cursor.ts'
import { type Place, type StoredRow, storageStore } from './storage.store.ts'
import { nameOf, storedValue, writeOf } from './writes/operations.ts'
import type { StorageWriter } from './writes/writer.ts'

export type StorageDeps = { db: Database; write: StorageWriter; filters: StorageFilters }

type ListQuery = z.output<(typeof storageApi)['list']['query']> & { collection: string }
type NewObject = z.output<(typeof storageApi)['put']['body']>

/** An object as operators name it: without a user it is the system's. */
export type Address = { collection: string; key: string; user_id?: string | undefined }

export type Storage = ReturnType<typeof createStorage>

export const defaultPermission = 1

/** Bytes of the values of one page. */
const valuesBytesMax = 1_048_576

/** Stored objects as operators see them: with the authority of the runtime. */
export function createStorage({ db, write, filters }: StorageDeps) {
  /** The rows of a page, whose values have at most so many bytes, or one row. */
  async function pageOf(name: string, query: ListQuery, bytesMax = Number.POSITIVE_INFINITY) {
    const { collection, user_id, limit, cursor } = query
    const list = [name, collection, ...(user_id === undefined ? [] : [user_id])]
    const after = positionOf(list, cursor)
    const page = { collection, after_key: after.key, limit: limit + 1 }
    const found = await (user_id === undefined
      ? storageStore.list(db, { ...page, after_user_id: after.user_id })
      : storageStore.listOfUser(db, { ...page, user_id }))
    let bytes = 0
    const tooMany = found.findIndex((row, index) => {
      bytes += row.bytes
      return index > 0 && bytes > bytesMax
    })
    const rows = found.slice(0, tooMany < 0 ? limit : Math.min(tooMany, limit))
    const last = found.length > rows.length ? rows.at(-1) : undefined
    return { rows, ...(last && { next: cursorOf(list, last) }) }
  }

  return {
    collections: async () => ({ collections: await storageStore.collections(db) }),

    async list(query: ListQuery) {
      const { rows, ...next } = await pageOf('list', query)
      const items = rows.map(({ bytes: _, ...row }): StorageRow => {
        return { ...row, user_id: row.user_id || null }
      })
      return { collection: query.collection, items, ...next }
    },

    /** The objects of a page with their values. What is removed meanwhile is left out. */
    async values(query: ListQuery) {
      const { rows, ...next } = await pageOf('values', query, valuesBytesMax)
      const { collection } = query
      const places = rows.map(({ user_id, key }) => ({ collection, user_id, key }))
      const stored = await storageStore.all(db, places)
      const byPlace = new Map(stored.map((row) => [nameOf(row), row]))
      const items = places.flatMap((place) => {
        const row = byPlace.get(nameOf(place))
        return row === undefined ? [] : [objectOf(row)]
      })
      return { items, ...next }
    },

    async get(address: Address): Promise<StorageObject> {
      const row = await storageStore.find(db, placeOf(address))
      if (row === undefined) throw refuse.notFound('no such object')
      return objectOf(row)
    },

    async put(mutation: Mutation, address: Address, object: NewObject): Promise<StorageObject> {
      const place = placeOf(address)
      const value = storedValue(object.value)
      const permissions = {
        read_permission: object.read_permission ?? defaultPermission,
        write_permission: object.write_permission ?? defaultPermission,
      }
      const { version } = value
      const user_id = address.user_id ?? null
      const shown = { ...place, user_id, value: object.value, version, ...permissions }
      const operations = [writeOf({ place, value, ...permissions, expected: object.version })]
      const judged = filters.serve() ? await filters.judgeAll(operations, 'operator') : operations
      await write(judged, { mutation, shown })
      return shown
    },

    async delete(mutation: Mutation, address: Address, version: string | undefined) {
      const place = placeOf(address)
      await write([{ is: 'removal', place, as: undefined, expected: version }], { mutation })
    },
  }
}

/** What a user owns, by collection and key. */
export function storageOf(tx: Queries, userId: string) {
  return storageStore.ofUser(tx, userId)
}

/** The value of a stored object: what was written, read again. */
export function parsedValue({ value }: Pick<StoredRow, 'value'>): JsonObject {
  return readObject(value)
}

function placeOf({ collection, key, user_id = '' }: Address): Place {
  return { collection, user_id, key }
}

function objectOf({ bytes: _, ...row }: StoredRow): StorageObject {
  return { ...row, user_id: row.user_id || null, value: parsedValue(row) }
}
