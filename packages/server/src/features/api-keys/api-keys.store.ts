import type { Queries } from '../../database/database.ts'
import { batchStatement, lookup, type Row, statement } from '../../database/statement.ts'

const keyColumns = {
  id: 'text',
  name: 'text',
  /** Separated by commas, in the order of the interface. */
  scopes: 'text',
  generation: 'integer',
  created_at: 'integer',
  expires_at: 'integer?',
  revoked_at: 'integer?',
  last_used_at: 'integer?',
} as const
export type KeyRow = Row<typeof keyColumns>

const columns = Object.keys(keyColumns).join(', ')

/** What the check of a credential needs. */
export const credentialLookup = lookup({
  name: 'api-keys.credential',
  text: `SELECT r.id, k.name, k.scopes, k.generation, k.secret_digest, k.expires_at, k.revoked_at
    FROM {{rows}} AS r JOIN api_keys k ON k.id = r.id`,
  params: { id: 'text' },
  row: {
    id: 'text',
    name: 'text',
    scopes: 'text',
    generation: 'integer',
    secret_digest: 'bytes',
    expires_at: 'integer?',
    revoked_at: 'integer?',
  },
})

const insert = statement({
  name: 'api-keys.insert',
  text: `INSERT INTO api_keys (id, name, scopes, generation, secret_digest, created_at, expires_at)
    VALUES (:id, :name, :scopes, 1, :secret_digest, :created_at, :expires_at)
    RETURNING ${columns}`,
  params: {
    id: 'text',
    name: 'text',
    scopes: 'text',
    secret_digest: 'bytes',
    created_at: 'integer',
    expires_at: 'integer?',
  },
  row: keyColumns,
})

const list = statement({
  name: 'api-keys.list',
  text: `SELECT ${columns} FROM api_keys ORDER BY created_at DESC, id`,
  row: keyColumns,
})

const byId = statement({
  name: 'api-keys.by-id',
  text: `SELECT ${columns} FROM api_keys WHERE id = :id`,
  params: { id: 'text' },
  row: keyColumns,
})

const rotate = statement({
  name: 'api-keys.rotate',
  text: `UPDATE api_keys SET secret_digest = :secret_digest, generation = generation + 1
    WHERE id = :id AND generation = :generation AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > :now_unix_ms)
    RETURNING ${columns}`,
  params: { id: 'text', generation: 'integer', secret_digest: 'bytes', now_unix_ms: 'integer' },
  row: keyColumns,
})

const revoke = statement({
  name: 'api-keys.revoke',
  text: `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, :now_unix_ms)
    WHERE id = :id AND generation = :generation
    RETURNING ${columns}`,
  params: { id: 'text', generation: 'integer', now_unix_ms: 'integer' },
  row: keyColumns,
})

/** A node that is late, or whose clock is behind, never moves a time back. */
const recordUse = batchStatement({
  name: 'api-keys.record-use',
  text: `UPDATE api_keys SET last_used_at = r.last_used_at FROM {{rows}} AS r
    WHERE api_keys.id = r.id AND api_keys.generation = r.generation
      AND (api_keys.last_used_at IS NULL OR api_keys.last_used_at < r.last_used_at)`,
  params: { id: 'text', generation: 'integer', last_used_at: 'integer' },
})
export type KeyUseRow = Row<(typeof recordUse)['params']>

/** Queries about API keys; every function takes the transaction first. */
export const apiKeysStore = {
  insert: (tx: Queries, key: Row<(typeof insert)['params']>) => tx.get(insert, key),
  /** Newest first. */
  list: (tx: Queries) => tx.all(list, {}),
  byId: (tx: Queries, id: string) => tx.get(byId, { id }),
  /** Compare-and-set: undefined unless the key is active and still of that generation. */
  rotate: (tx: Queries, change: Row<(typeof rotate)['params']>) => tx.get(rotate, change),
  /** Compare-and-set: undefined unless the key is of that generation; the first time is kept. */
  revoke: (tx: Queries, change: Row<(typeof revoke)['params']>) => tx.get(revoke, change),
  /** Uses of a secret that was replaced meanwhile are passed over. */
  recordUse: (tx: Queries, uses: readonly KeyUseRow[]) => tx.each(recordUse, uses),
}
