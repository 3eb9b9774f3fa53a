import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'

const windowParams = {
  key_digest: 'bytes',
  starts_at_unix_ms: 'integer',
  ends_at_unix_ms: 'integer',
} as const
export type Window = Row<typeof windowParams>

/**
 * Adds to windows, made where they do not exist yet, and locks all of them; says what each has
 * then. Limits are not looked at: what turns out to be too much is taken back before the commit,
 * so that the usual case is one statement. Adding 0 writes nothing to a file.
 */
const addWanted = batchStatement({
  name: 'admission.add-wanted',
  text: `INSERT INTO admission_windows (key_digest, starts_at_unix_ms, ends_at_unix_ms, taken)
    {{given}}
    ON CONFLICT (key_digest, starts_at_unix_ms)
      DO UPDATE SET taken = admission_windows.taken + excluded.taken
    RETURNING key_digest, starts_at_unix_ms, taken`,
  params: { ...windowParams, added: 'integer' },
  row: { key_digest: 'bytes', starts_at_unix_ms: 'integer', taken: 'integer' },
})

const takeBack = batchStatement({
  name: 'admission.take-back',
  text: `UPDATE admission_windows SET taken = taken - r.surplus
    FROM {{rows}} AS r
    WHERE admission_windows.key_digest = r.key_digest
      AND admission_windows.starts_at_unix_ms = r.starts_at_unix_ms`,
  params: { key_digest: 'bytes', starts_at_unix_ms: 'integer', surplus: 'integer' },
})

const pruneEnded = statement({
  name: 'admission.prune-ended',
  text: `DELETE FROM admission_windows WHERE (key_digest, starts_at_unix_ms) IN (
    SELECT key_digest, starts_at_unix_ms FROM admission_windows
    WHERE ends_at_unix_ms < :before_unix_ms LIMIT :batch_items)`,
  params: { before_unix_ms: 'integer', batch_items: 'integer' },
})

/** Queries about the counters; every function takes the transaction first. */
export const admissionStore = {
  addWanted: (tx: Queries, rows: readonly Row<(typeof addWanted)['params']>[]) =>
    tx.each(addWanted, rows),
  takeBack: (tx: Queries, rows: readonly Row<(typeof takeBack)['params']>[]) =>
    tx.each(takeBack, rows),
  pruneEnded: (tx: Queries, bounds: Row<(typeof pruneEnded)['params']>) =>
    tx.run(pruneEnded, bounds),
}
