import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'

const newRow = { kind: 'text', payload: 'text', created_at_unix_ms: 'integer' } as const

const claimedRow = {
  id: 'integer',
  payload: 'text',
  attempts: 'integer',
  created_at_unix_ms: 'integer',
} as const
export type ClaimedRow = Row<typeof claimedRow>

const claimKey = { id: 'integer', attempts: 'integer' } as const
/** One claim: no later claim of the row has the same number of attempts. */
export type Claim = Row<typeof claimKey>

const insert = batchStatement({
  name: 'outbox.insert',
  text: `INSERT INTO outbox (kind, payload, attempts, available_at_unix_ms, created_at_unix_ms)
    SELECT r.kind, r.payload, 0, 0, r.created_at_unix_ms FROM {{rows}} AS r`,
  params: newRow,
})

const waiting = statement({
  name: 'outbox.waiting',
  text: `SELECT id FROM outbox
    WHERE kind = :kind AND delivered_at_unix_ms IS NULL AND available_at_unix_ms <= {{now}}
    LIMIT 1`,
  params: { kind: 'text' },
  row: { id: 'integer' },
})

/** The outer conditions are looked at again for a row that another node claimed meanwhile. */
const claim = statement({
  name: 'outbox.claim',
  text: `UPDATE outbox
    SET attempts = attempts + 1, available_at_unix_ms = {{now}} + :claim_ms
    WHERE id IN (SELECT id FROM outbox
        WHERE kind = :kind AND delivered_at_unix_ms IS NULL AND available_at_unix_ms <= {{now}}
        ORDER BY available_at_unix_ms, id LIMIT :limit)
      AND delivered_at_unix_ms IS NULL AND available_at_unix_ms <= {{now}}
    RETURNING id, payload, attempts, created_at_unix_ms`,
  params: { kind: 'text', claim_ms: 'integer', limit: 'integer' },
  row: claimedRow,
})

const markDelivered = statement({
  name: 'outbox.mark-delivered',
  text: `UPDATE outbox SET delivered_at_unix_ms = :delivered_at_unix_ms
    WHERE id = :id AND attempts = :attempts AND delivered_at_unix_ms IS NULL`,
  params: { ...claimKey, delivered_at_unix_ms: 'integer' },
})

const postpone = statement({
  name: 'outbox.postpone',
  text: `UPDATE outbox SET available_at_unix_ms = {{now}} + :delay_ms
    WHERE id = :id AND attempts = :attempts AND delivered_at_unix_ms IS NULL`,
  params: { ...claimKey, delay_ms: 'integer' },
})

const prune = { before_unix_ms: 'integer', batch_items: 'integer' } as const

const removeDelivered = statement({
  name: 'outbox.remove-delivered',
  text: `DELETE FROM outbox WHERE id IN (SELECT id FROM outbox
    WHERE delivered_at_unix_ms IS NOT NULL AND delivered_at_unix_ms <= :before_unix_ms
    ORDER BY delivered_at_unix_ms LIMIT :batch_items)`,
  params: prune,
})

const removeUndelivered = statement({
  name: 'outbox.remove-undelivered',
  text: `DELETE FROM outbox WHERE delivered_at_unix_ms IS NULL AND id IN (SELECT id FROM outbox
      WHERE delivered_at_unix_ms IS NULL AND created_at_unix_ms <= :before_unix_ms
      ORDER BY created_at_unix_ms LIMIT :batch_items)
    RETURNING id, kind`,
  params: prune,
  row: { id: 'integer', kind: 'text' },
})

/** Queries about what is to leave; every function takes the transaction first. */
export const outboxStore = {
  add: (tx: Queries, rows: readonly Row<typeof newRow>[]) => tx.each(insert, rows),
  /** Whether a row could be claimed: a look that writes nothing. */
  hasWaiting: async (tx: Queries, kind: string): Promise<boolean> =>
    (await tx.get(waiting, { kind })) !== undefined,
  claim: (tx: Queries, request: Row<typeof claim.params>) => tx.all(claim, request),
  /** False when the claim is no longer the row's newest, or the row was delivered. */
  markDelivered: async (tx: Queries, row: Row<typeof markDelivered.params>): Promise<boolean> =>
    (await tx.run(markDelivered, row)) > 0,
  postpone: (tx: Queries, row: Row<typeof postpone.params>) => tx.run(postpone, row),
  removeDelivered: (tx: Queries, bounds: Row<typeof prune>) => tx.run(removeDelivered, bounds),
  removeUndelivered: (tx: Queries, bounds: Row<typeof prune>) => tx.all(removeUndelivered, bounds),
}
