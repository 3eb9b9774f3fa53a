import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const storageObjects = defineTable('storage_objects', {
  columns: {
    collection: 'text',
    user_id: 'text',
    key: 'text',
    version: 'text',
    read_permission: 'integer',
    write_permission: 'integer',
    bytes: 'integer',
    value: 'json',
  },
  key: ['collection', 'user_id', 'key'],
})

export const storageCollections = defineTable('storage_collections', {
  columns: { collection: 'text', objects: 'integer' },
  key: ['collection'],
})

export const storageIndexGuard = defineTable('storage_index_guard', {
  columns: { name: 'text', epoch: 'integer' },
  key: ['name'],
  visibility: 'hidden',
})

export const storageIndexes = defineTable('storage_indexes', {
  columns: {
    id: 'integer',
    name: 'text',
    collection: 'text',
    key: 'text?',
    fields: 'text',
    filtered: 'flag',
    state: oneOf('building', 'ready', 'dropped'),
    cursor_user_id: 'text',
    cursor_key: 'text',
  },
  key: ['id'],
  sequence: 'id',
})

export const storageIndexEntries = defineTable('storage_index_entries', {
  columns: { index_id: 'integer', field: 'text', value: 'text', user_id: 'text', key: 'text' },
  key: ['index_id', 'field', 'value', 'user_id', 'key'],
})

export const storageIndexPending = defineTable('storage_index_pending', {
  columns: { index_id: 'integer', user_id: 'text', key: 'text' },
  key: ['index_id', 'user_id', 'key'],
})
