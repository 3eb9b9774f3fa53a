import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

export const accounts = defineTable('accounts', {
  columns: {
    id: 'text',
    username: 'text',
    display_name: 'text?',
    metadata: 'json?',
    state: oneOf('active', 'disabled', 'tombstoned'),
    created_at_unix_ms: 'time',
    updated_at_unix_ms: 'time',
    counted: 'flag',
    display_folded: 'text?',
  },
  key: ['id'],
})

/** The id of a device is all that it signs in with. */
export const identities = defineTable('identities', {
  columns: {
    provider: oneOf('device', 'custom', 'email'),
    external_id: 'text',
    account_id: 'text',
    password_verifier: 'text?',
    created_at_unix_ms: 'time',
  },
  key: ['provider', 'external_id'],
  sensitive: ['external_id'],
})

export const accountTotals = defineTable('account_totals', {
  columns: { name: 'text', accounts: 'integer' },
  key: ['name'],
  visibility: 'hidden',
})

export const sessions = defineTable('sessions', {
  columns: {
    id: 'text',
    account_id: 'text',
    access_digest: 'bytes',
    refresh_digest: 'bytes',
    created_at_unix_ms: 'time',
    access_expires_at_unix_ms: 'time',
    refresh_expires_at_unix_ms: 'time',
    revoked_at_unix_ms: 'time?',
  },
  key: ['id'],
})

/** Written when the sessions of an account are removed; until then they say it. */
export const accountLastSeen = defineTable('account_last_seen', {
  columns: { account_id: 'text', seen_at_unix_ms: 'time' },
  key: ['account_id'],
})

export const rotatedRefreshDigests = defineTable('rotated_refresh_digests', {
  columns: { refresh_digest: 'bytes', session_id: 'text' },
  key: ['refresh_digest'],
})

export const sessionRevocations = defineTable('session_revocations', {
  columns: { seq: 'integer', session_id: 'text', revoked_at_unix_ms: 'time' },
  key: ['seq'],
  sequence: 'seq',
})
