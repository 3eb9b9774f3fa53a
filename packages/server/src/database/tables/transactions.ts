import { defineTable } from './table.ts'

/** Under which keys scripts had operations done together, and what they were answered. */
export const transactionKeys = defineTable('transaction_keys', {
  columns: {
    idempotency_key: 'text',
    request_digest: 'bytes',
    results: 'json',
    created_at_unix_ms: 'time',
  },
  key: ['idempotency_key'],
})
