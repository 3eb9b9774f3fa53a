import { purchaseStores } from '@guildhall/contract'
import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const purchases = defineTable('purchases', {
  columns: {
    transaction_id: 'text',
    user_id: 'text',
    product_id: 'text',
    store: oneOf(...purchaseStores),
    receipt_digest: 'bytes',
    validated_at_unix_ms: 'time',
    subscription_expiry_unix_ms: 'time?',
  },
  key: ['transaction_id'],
})
