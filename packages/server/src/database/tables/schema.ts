import { defineTable } from './table.ts'

export const schemaMigrations = defineTable('schema_migrations', {
  columns: {
    number: 'integer',
    name: 'text',
    checksum: 'text',
    binary_version: 'text',
    oldest_binary: 'text',
    applied_at_unix_ms: 'time',
  },
  key: ['number'],
  visibility: 'hidden',
})

export const schemaLease = defineTable('schema_lease', {
  columns: { name: 'text', holder: 'text', token: 'integer', expires_at_unix_ms: 'time' },
  key: ['name'],
  visibility: 'hidden',
})
