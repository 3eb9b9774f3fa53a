import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

const entry = {
  id: 'text',
  node_id: 'text',
  time_unix_ms: 'time',
  actor_type: 'text',
  actor: 'text',
  role: 'text',
  credential_id: 'text?',
  key_name: 'text?',
  key_scopes: 'text?',
  action: 'text',
  target: 'text',
  details: 'text',
  match_id: 'text?',
} as const

/** Its numbers may come again once the rows are sealed, so they are no sequence. */
export const auditUnsealed = defineTable('audit_unsealed', {
  columns: { number: 'integer', ...entry },
  key: ['number'],
})

export const auditEntries = defineTable('audit_entries', {
  columns: { seq: 'integer', ...entry, hash: 'bytes', keyed: 'flag' },
  key: ['seq'],
})

export const auditChainEnds = defineTable('audit_chain_ends', {
  columns: { name: oneOf('anchor', 'head'), seq: 'integer', hash: 'bytes' },
  key: ['name'],
})
