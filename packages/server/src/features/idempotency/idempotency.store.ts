import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'

/** A record lives this long from its first use, in milliseconds. */
export const recordLifeMs = 24 * 3_600_000

const keyParams = { principal: 'text', target: 'text', idempotency_key: 'text' } as const
const recordParams = {
  ...keyParams,
  body_digest: 'bytes',
  status: 'integer',
  answer: 'text?',
  created_at_unix_ms: 'integer',
} as const

const find = statement({
  name: 'idempotency.find',
  text: `SELECT body_digest, status, answer, created_at_unix_ms FROM idempotency_records
    WHERE principal = :principal AND target = :target AND idempotency_key = :idempotency_key`,
  params: keyParams,
  row: {
    body_digest: 'bytes',
    status: 'integer',
    answer: 'text?',
    created_at_unix_ms: 'integer',
  },
})

const columns = Object.keys(recordParams)

/** An expired record of the same key gives way; a live one stays, and its key is not answered. */
const insert = batchStatement({
  name: 'idempotency.insert',
  text: `INSERT INTO idempotency_records (${columns.join(', ')})
    SELECT ${columns.map((column) => `r.${column}`).join(', ')} FROM {{rows}} AS r
    WHERE true
    ON CONFLICT (principal, target, idempotency_key) DO UPDATE SET
      body_digest = excluded.body_digest, status = excluded.status, answer = excluded.answer,
      created_at_unix_ms = excluded.created_at_unix_ms
    WHERE idempotency_records.created_at_unix_ms <= excluded.created_at_unix_ms - ${recordLifeMs}
    RETURNING principal, target, idempotency_key`,
  params: recordParams,
  row: keyParams,
})

const prune = statement({
  name: 'idempotency.prune',
  text: `DELETE FROM idempotency_records WHERE (principal, target, idempotency_key) IN (
    SELECT principal, target, idempotency_key FROM idempotency_records
    WHERE created_at_unix_ms <= :expired_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Queries about requests that may be repeated; every function takes the transaction first. */
export const idempotencyStore = {
  find: (tx: Queries, key: Row<typeof keyParams>) => tx.get(find, key),
  /** Answers the keys whose records were written: those of live ones are not among them. */
  insert: (tx: Queries, records: readonly Row<typeof recordParams>[]) => tx.each(insert, records),
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
