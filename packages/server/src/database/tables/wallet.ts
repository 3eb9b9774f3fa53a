import { defineTable } from './table.ts'

export const walletBalances = defineTable('wallet_balances', {
  columns: { user_id: 'text', currency: 'text', balance: 'bigint' },
  key: ['user_id', 'currency'],
})

export const walletLedger = defineTable('wallet_ledger', {
  columns: {
    seq: 'integer',
    user_id: 'text',
    currency: 'text',
    delta: 'bigint',
    balance_after: 'bigint',
    reason: 'text',
    time_unix_ms: 'time',
  },
  key: ['seq'],
  sequence: 'seq',
})

export const walletCarried = defineTable('wallet_carried', {
  columns: { user_id: 'text', currency: 'text', carried: 'bigint' },
  key: ['user_id', 'currency'],
})

export const walletKeys = defineTable('wallet_keys', {
  columns: {
    user_id: 'text',
    idempotency_key: 'text',
    currency: 'text',
    delta: 'bigint',
    balance_after: 'bigint',
    seq: 'integer',
    created_at_unix_ms: 'time',
  },
  key: ['user_id', 'idempotency_key'],
})
