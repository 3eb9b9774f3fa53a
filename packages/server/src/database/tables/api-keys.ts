import { defineTable } from './table.ts'

export const apiKeys = defineTable('api_keys', {
  columns: {
    id: 'text',
    name: 'text',
    scopes: 'text',
    generation: 'integer',
    secret_digest: 'bytes',
    created_at: 'time',
    expires_at: 'time?',
    revoked_at: 'time?',
    last_used_at: 'time?',
  },
  key: ['id'],
  visibility: 'protected',
})
