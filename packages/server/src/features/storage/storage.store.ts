import type { Database, Queries } from '../../database/database.ts'
import { batchStatement, lookup, type Row, statement } from '../../database/statement.ts'

/** Where an object is; the empty user id is the system's. */
const place = { collection: 'text', user_id: 'text', key: 'text' } as const
export type Place = Row<typeof place>

const head = {
  version: 'text',
  read_permission: 'integer',
  write_permission: 'integer',
} as const
export type HeadRow = Row<typeof place> & Row<typeof head>

const stored = { ...place, ...head, bytes: 'integer', value: 'text' } as const
export type StoredRow = Row<typeof stored>

const columns = Object.keys(stored)

const samePlace = `o.collection = r.collection AND o.user_id = r.user_id AND o.key = r.key`

const byPlace = lookup({
  name: 'storage.by-place',
  text: `SELECT ${columns.map((column) => `o.${column}`).join(', ')} FROM {{rows}} AS r
    JOIN storage_objects o ON ${samePlace}`,
  params: place,
  row: stored,
})

/** In one order for everybody, so that two nodes with the same objects never wait in a circle. */
const lock = batchStatement({
  name: 'storage.lock',
  text: `SELECT o.collection, o.user_id, o.key, o.version, o.read_permission, o.write_permission
    FROM {{rows}} AS r JOIN storage_objects o ON ${samePlace}
    ORDER BY o.collection, o.user_id, o.key {{for update of o}}`,
  params: place,
  row: { ...place, ...head },
})

const heads = batchStatement({
  name: 'storage.heads',
  text: `SELECT o.collection, o.user_id, o.key, o.version, o.read_permission, o.write_permission
    FROM {{rows}} AS r JOIN storage_objects o ON ${samePlace}`,
  params: place,
  row: { ...place, ...head },
})

const insert = batchStatement({
  name: 'storage.insert',
  text: `INSERT INTO storage_objects (${columns.join(', ')})
    SELECT ${columns.map((column) => `r.${column}`).join(', ')} FROM {{rows}} AS r
    ORDER BY r.collection, r.user_id, r.key`,
  params: stored,
})

const update = batchStatement({
  name: 'storage.update',
  text: `UPDATE storage_objects SET version = r.version, read_permission = r.read_permission,
      write_permission = r.write_permission, bytes = r.bytes, value = r.value
    FROM {{rows}} AS r
    WHERE storage_objects.collection = r.collection AND storage_objects.user_id = r.user_id
      AND storage_objects.key = r.key`,
  params: stored,
})

const remove = batchStatement({
  name: 'storage.delete',
  text: `DELETE FROM storage_objects WHERE (collection, user_id, key) IN
    (SELECT r.collection, r.user_id, r.key FROM {{rows}} AS r)`,
  params: place,
})

const counts = { collection: 'text', objects: 'integer' } as const

const collections = statement({
  name: 'storage.collections',
  text: 'SELECT collection, objects FROM storage_collections ORDER BY collection',
  row: counts,
  long: true,
})

/** In one order for everybody, and each collection once. */
const count = batchStatement({
  name: 'storage.count',
  text: `INSERT INTO storage_collections (collection, objects)
    SELECT r.collection, r.objects FROM {{rows}} AS r
    WHERE true
    ORDER BY r.collection
    ON CONFLICT (collection)
      DO UPDATE SET objects = storage_collections.objects + excluded.objects`,
  params: counts,
})

/** A collection ends with its last object. */
const forgetEmpty = batchStatement({
  name: 'storage.forget-empty',
  text: `DELETE FROM storage_collections WHERE objects = 0
    AND collection IN (SELECT r.collection FROM {{rows}} AS r)`,
  params: { collection: 'text' },
})

const listed = { user_id: 'text', key: 'text', ...head, bytes: 'integer' } as const
const listedColumns = Object.keys(listed).join(', ')

const list = statement({
  name: 'storage.list',
  text: `SELECT ${listedColumns} FROM storage_objects
    WHERE collection = :collection AND (user_id, key) > (:after_user_id, :after_key)
    ORDER BY user_id, key LIMIT {{unplanned :limit}}`,
  params: { collection: 'text', after_user_id: 'text', after_key: 'text', limit: 'integer' },
  row: listed,
})

const listOfUser = statement({
  name: 'storage.list-of-user',
  text: `SELECT ${listedColumns} FROM storage_objects
    WHERE collection = :collection AND user_id = :user_id AND key > :after_key
    ORDER BY key LIMIT {{unplanned :limit}}`,
  params: { collection: 'text', user_id: 'text', after_key: 'text', limit: 'integer' },
  row: listed,
})

const ofUser = statement({
  name: 'storage.of-user',
  text: `SELECT collection, key, version FROM storage_objects
    WHERE user_id = :user_id AND user_id <> '' ORDER BY collection, key`,
  params: { user_id: 'text' },
  row: { collection: 'text', key: 'text', version: 'text' },
})

/** Queries about stored objects; every function takes the transaction first. */
export const storageStore = {
  /** Calls of one turn share a round trip. */
  find: (db: Database, at: Place) => db.find(byPlace, at),
  all: (tx: Queries, places: readonly Place[]) => tx.each(byPlace, places),
  /** What is there of these objects, without their values. */
  heads: (tx: Queries, places: readonly Place[]) => tx.each(heads, places),
  /** The same; every other change of them waits from here on. */
  lock: (tx: Queries, places: readonly Place[]) => tx.each(lock, places),
  /** @throws UniqueViolation when one of them is there */
  insert: (tx: Queries, rows: readonly StoredRow[]) => inParts(tx, insert, rows),
  update: (tx: Queries, rows: readonly StoredRow[]) => inParts(tx, update, rows),
  remove: (tx: Queries, places: readonly Place[]) => tx.each(remove, places),
  collections: (tx: Queries) => tx.all(collections, {}),
  /** Counts objects in and out of their collections, each of which is given once. */
  async count(tx: Queries, changes: readonly Row<typeof counts>[]): Promise<void> {
    const less = changes.filter(({ objects }) => objects < 0)
    await Promise.all([
      tx.each(count, changes),
      tx.each(
        forgetEmpty,
        less.map(({ collection }) => ({ collection })),
      ),
    ])
  },
  list: (tx: Queries, page: Row<(typeof list)['params']>) => tx.all(list, page),
  listOfUser: (tx: Queries, page: Row<(typeof listOfUser)['params']>) => tx.all(listOfUser, page),
  ofUser: (tx: Queries, user_id: string) => tx.all(ofUser, { user_id }),
}

/** Statements of bounded size: values are large, and a server takes so much of a parameter only. */
async function inParts(
  tx: Queries,
  write: typeof insert,
  rows: readonly StoredRow[],
): Promise<void> {
  const parts: Promise<unknown>[] = []
  for (const part of partsOf(rows)) parts.push(tx.each(write, part))
  await Promise.all(parts)
}

function* partsOf(rows: readonly StoredRow[]): Iterable<StoredRow[]> {
  let part: StoredRow[] = []
  let bytes = 0
  for (const row of rows) {
    if (bytes > partBytes) {
      yield part
      part = []
      bytes = 0
    }
    part.push(row)
    bytes += row.bytes
  }
  yield part
}

const partBytes = 4_194_304

/** Bytes of values of one page; its first row is always given. */
export const pageBytesMax = 4_194_304
