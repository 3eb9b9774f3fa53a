import type { Queries } from '../../../database/database.ts'
import { batchStatement, type Row, statement } from '../../../database/statement.ts'
import { storageIndexes } from '../../../database/tables/storage.ts'
import type { Place } from '../storage.store.ts'

const indexRow = storageIndexes.columns
export type IndexRow = Row<typeof indexRow>

/** Everybody who writes objects passes here, and waits while the set of indexes changes. */
const shareGuard = statement({
  name: 'storage.share-guard',
  text: `SELECT g.epoch FROM storage_index_guard g WHERE g.name = 'indexes' {{for share of g}}`,
  row: { epoch: 'integer' },
})

const moveGuard = statement({
  name: 'storage.move-guard',
  text: `UPDATE storage_index_guard SET epoch = epoch + 1 WHERE name = 'indexes'`,
})

const lockGuard = statement({
  name: 'storage.lock-guard',
  text: `SELECT g.epoch FROM storage_index_guard g WHERE g.name = 'indexes' {{for update of g}}`,
  row: { epoch: 'integer' },
})

const live = statement({
  name: 'storage.live-indexes',
  text: `SELECT ${Object.keys(indexRow).join(', ')} FROM storage_indexes
    WHERE state <> 'dropped' ORDER BY id`,
  row: indexRow,
})

const declaration = {
  name: 'text',
  collection: 'text',
  key: 'text?',
  fields: 'text',
  filtered: 'flag',
} as const

const declare = batchStatement({
  name: 'storage.declare-index',
  text: `INSERT INTO storage_indexes (name, collection, key, fields, filtered, state,
      cursor_user_id, cursor_key)
    SELECT r.name, r.collection, r.key, r.fields, r.filtered, 'building', '', ''
    FROM {{rows}} AS r`,
  params: declaration,
})

const drop = batchStatement({
  name: 'storage.drop-index',
  text: `UPDATE storage_indexes SET state = 'dropped' WHERE id IN (SELECT r.id FROM {{rows}} AS r)`,
  params: { id: 'integer' },
})

const recordFilter = statement({
  name: 'storage.record-filter',
  text: `UPDATE storage_indexes SET filtered = 1
    WHERE name = :name AND state <> 'dropped' AND filtered = 0`,
  params: { name: 'text' },
})

const moveCursor = statement({
  name: 'storage.move-index-cursor',
  text: `UPDATE storage_indexes SET cursor_user_id = :user_id, cursor_key = :key
    WHERE id = :id AND state = 'building' AND (cursor_user_id, cursor_key) < (:user_id, :key)`,
  params: { id: 'integer', user_id: 'text', key: 'text' },
})

const complete = statement({
  name: 'storage.complete-index',
  text: `UPDATE storage_indexes SET state = 'ready' WHERE id = :id AND state = 'building'`,
  params: { id: 'integer' },
})

const dropped = statement({
  name: 'storage.dropped-index',
  text: `SELECT id FROM storage_indexes WHERE state = 'dropped' ORDER BY id LIMIT 1`,
  row: { id: 'integer' },
})

const removeRows = { id: 'integer', rows: 'integer' } as const
const removeEntries = statement({
  name: 'storage.remove-dropped-entries',
  text: `DELETE FROM storage_index_entries WHERE (index_id, field, value, user_id, key) IN
    (SELECT index_id, field, value, user_id, key FROM storage_index_entries
      WHERE index_id = :id LIMIT :rows)`,
  params: removeRows,
})
const removePending = statement({
  name: 'storage.remove-dropped-pending',
  text: `DELETE FROM storage_index_pending WHERE (index_id, user_id, key) IN
    (SELECT index_id, user_id, key FROM storage_index_pending WHERE index_id = :id LIMIT :rows)`,
  params: removeRows,
})
const removeIndex = statement({
  name: 'storage.remove-dropped-index',
  text: `DELETE FROM storage_indexes WHERE id = :id AND state = 'dropped'`,
  params: { id: 'integer' },
})

const object = { index_id: 'integer', user_id: 'text', key: 'text' } as const
export type IndexedObject = Row<typeof object>
const entry = { ...object, field: 'text', value: 'text' } as const
export type EntryRow = Row<typeof entry>
const entryNames = Object.keys(entry)

const entriesOf = batchStatement({
  name: 'storage.index-entries-of',
  text: `SELECT ${entryNames.map((name) => `e.${name}`).join(', ')} FROM {{rows}} AS r
    JOIN storage_index_entries e
      ON e.index_id = r.index_id AND e.user_id = r.user_id AND e.key = r.key`,
  params: object,
  row: entry,
})

const addEntries = batchStatement({
  name: 'storage.add-index-entries',
  text: `INSERT INTO storage_index_entries (${entryNames.join(', ')})
    SELECT ${entryNames.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r`,
  params: entry,
})

const takeEntries = batchStatement({
  name: 'storage.take-index-entries',
  text: `DELETE FROM storage_index_entries WHERE (index_id, field, value, user_id, key) IN
    (SELECT r.index_id, r.field, r.value, r.user_id, r.key FROM {{rows}} AS r)`,
  params: entry,
})

const addPending = batchStatement({
  name: 'storage.add-index-pending',
  text: `INSERT INTO storage_index_pending (index_id, user_id, key)
    SELECT r.index_id, r.user_id, r.key FROM {{rows}} AS r
    WHERE true
    ON CONFLICT (index_id, user_id, key) DO NOTHING`,
  params: object,
})

const takePending = batchStatement({
  name: 'storage.take-index-pending',
  text: `DELETE FROM storage_index_pending WHERE (index_id, user_id, key) IN
    (SELECT r.index_id, r.user_id, r.key FROM {{rows}} AS r)`,
  params: object,
})

const after = { after_user_id: 'text', after_key: 'text', limit: 'integer' } as const
const weighed = { user_id: 'text', key: 'text', bytes: 'integer' } as const

/** What an index is yet to look at; values are read later, as many at once as may be. */
const unbuilt = statement({
  name: 'storage.unbuilt',
  text: `SELECT user_id, key, bytes FROM storage_objects
    WHERE collection = :collection AND (user_id, key) > (:after_user_id, :after_key)
    ORDER BY user_id, key LIMIT :limit`,
  params: { collection: 'text', ...after },
  row: weighed,
})

/** What waits for the filter of an index. */
const pending = statement({
  name: 'storage.pending',
  text: `SELECT p.user_id, p.key, o.bytes FROM storage_index_pending p
    JOIN storage_objects o
      ON o.collection = :collection AND o.user_id = p.user_id AND o.key = p.key
    WHERE p.index_id = :index_id AND (p.user_id, p.key) > (:after_user_id, :after_key)
    ORDER BY p.user_id, p.key LIMIT :limit`,
  params: { index_id: 'integer', collection: 'text', ...after },
  row: weighed,
})

/** Queries about declared indexes and their entries; every function takes the transaction first. */
export const storageIndexStore = {
  /** The epoch of the indexes that are in force; it stays until the end of the transaction. */
  shareGuard: async (tx: Queries): Promise<number> => epochOf(await tx.get(shareGuard, {})),
  lockGuard: async (tx: Queries): Promise<number> => epochOf(await tx.get(lockGuard, {})),
  moveGuard: (tx: Queries) => tx.run(moveGuard, {}),
  live: (tx: Queries) => tx.all(live, {}),
  declare: (tx: Queries, rows: readonly Row<typeof declaration>[]) => tx.each(declare, rows),
  drop: (tx: Queries, ids: readonly number[]) =>
    tx.each(
      drop,
      ids.map((id) => ({ id })),
    ),
  /** Answers whether that was news. */
  recordFilter: async (tx: Queries, name: string) => (await tx.run(recordFilter, { name })) > 0,
  moveCursor: (tx: Queries, id: number, { user_id, key }: Pick<Place, 'user_id' | 'key'>) =>
    tx.run(moveCursor, { id, user_id, key }),
  complete: (tx: Queries, id: number) => tx.run(complete, { id }),
  /** An index that is no more but still has a row, if there is one. */
  dropped: async (tx: Queries) => (await tx.get(dropped, {}))?.id,
  /** Removes up to `rows` of what a dropped index left; at last the index, and answers 0 then. */
  async purge(tx: Queries, id: number, rows: number): Promise<number> {
    const removed =
      (await tx.run(removeEntries, { id, rows })) + (await tx.run(removePending, { id, rows }))
    if (removed === 0) await tx.run(removeIndex, { id })
    return removed
  },
  entriesOf: (tx: Queries, objects: readonly IndexedObject[]) => tx.each(entriesOf, objects),
  addEntries: (tx: Queries, rows: readonly EntryRow[]) => tx.each(addEntries, rows),
  takeEntries: (tx: Queries, rows: readonly EntryRow[]) => tx.each(takeEntries, rows),
  addPending: (tx: Queries, objects: readonly IndexedObject[]) => tx.each(addPending, objects),
  takePending: (tx: Queries, objects: readonly IndexedObject[]) => tx.each(takePending, objects),
  unbuilt: (tx: Queries, page: Row<(typeof unbuilt)['params']>) => tx.all(unbuilt, page),
  pending: (tx: Queries, page: Row<(typeof pending)['params']>) => tx.all(pending, page),
}

/** The migration makes the row, and nothing removes it. */
function epochOf(row: { epoch: number } | undefined): number {
  if (row === undefined) throw new Error('the guard of the indexes is gone')
  return row.epoch
}
