import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { pick } from '../../database/tables/table.ts'
import { transactionKeys } from '../../database/tables/transactions.ts'

const newKey = transactionKeys.columns
const key = pick(transactionKeys, 'idempotency_key')
const keyRow = pick(transactionKeys, 'request_digest', 'results')
export type NewKey = Row<typeof newKey>

/** Of two transactions with one key the second waits here for the end of the first. */
const take = statement({
  name: 'transactions.take-key',
  text: `INSERT INTO transaction_keys
      (idempotency_key, request_digest, results, created_at_unix_ms)
    VALUES (:idempotency_key, :request_digest, :results, :created_at_unix_ms)
    ON CONFLICT (idempotency_key) DO NOTHING`,
  params: newKey,
})

const find = statement({
  name: 'transactions.key',
  text: `SELECT request_digest, results FROM transaction_keys
    WHERE idempotency_key = :idempotency_key`,
  params: key,
  row: keyRow,
})

const setResults = statement({
  name: 'transactions.set-results',
  text: `UPDATE transaction_keys SET results = :results
    WHERE idempotency_key = :idempotency_key`,
  params: pick(transactionKeys, 'idempotency_key', 'results'),
})

const dropExpired = statement({
  name: 'transactions.drop-expired-key',
  text: `DELETE FROM transaction_keys
    WHERE idempotency_key = :idempotency_key AND created_at_unix_ms <= :expired_unix_ms`,
  params: { ...key, expired_unix_ms: 'integer' },
})

const prune = statement({
  name: 'transactions.prune-keys',
  text: `DELETE FROM transaction_keys WHERE idempotency_key IN (
    SELECT idempotency_key FROM transaction_keys
    WHERE created_at_unix_ms <= :expired_unix_ms
    ORDER BY created_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Queries about the keys of transactions; every function takes the transaction first. */
export const transactionsStore = {
  /** False when the key is in use; then it can be read. */
  take: async (tx: Queries, row: NewKey) => (await tx.run(take, row)) === 1,
  find: (tx: Queries, idempotency_key: string) => tx.get(find, { idempotency_key }),
  setResults: (tx: Queries, row: Row<(typeof setResults)['params']>) => tx.run(setResults, row),
  dropExpired: (tx: Queries, row: Row<(typeof dropExpired)['params']>) => tx.run(dropExpired, row),
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
