import { defineTable } from './table.ts'

export const deploymentSecrets = defineTable('deployment_secrets', {
  columns: { name: 'text', secret: 'bytes' },
  key: ['name'],
  visibility: 'hidden',
})

export const leases = defineTable('leases', {
  columns: { name: 'text', holder: 'text', token: 'integer', expires_at_unix_ms: 'time' },
  key: ['name'],
  visibility: 'hidden',
})

export const nodeBoots = defineTable('node_boots', {
  columns: {
    boot_id: 'text',
    node_id: 'text',
    started_at_unix_ms: 'time',
    seen_at_unix_ms: 'time',
    ended_at_unix_ms: 'time?',
  },
  key: ['boot_id'],
})

export const totals = defineTable('totals', {
  columns: { name: 'text', total: 'integer' },
  key: ['name'],
  visibility: 'hidden',
})

export const admissionWindows = defineTable('admission_windows', {
  columns: {
    key_digest: 'bytes',
    starts_at_unix_ms: 'time',
    ends_at_unix_ms: 'time',
    taken: 'integer',
  },
  key: ['key_digest', 'starts_at_unix_ms'],
})

/** What a repeated request is answered with may hold a secret that is shown once. */
export const idempotencyRecords = defineTable('idempotency_records', {
  columns: {
    principal: 'text',
    target: 'text',
    idempotency_key: 'text',
    body_digest: 'bytes',
    status: 'integer',
    answer: 'text?',
    created_at_unix_ms: 'time',
  },
  key: ['principal', 'target', 'idempotency_key'],
  sensitive: ['answer'],
})

export const outbox = defineTable('outbox', {
  columns: {
    id: 'integer',
    kind: 'text',
    payload: 'json',
    attempts: 'integer',
    available_at_unix_ms: 'time',
    created_at_unix_ms: 'time',
    delivered_at_unix_ms: 'time?',
  },
  key: ['id'],
  sequence: 'id',
})
