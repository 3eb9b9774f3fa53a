import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import type { Link } from './audit.chain.ts'
import { type AuditRow, entryColumns } from './audit.store.ts'

const names = Object.keys(entryColumns).join(', ')

/** A row of the chain as it is stored, whatever somebody has made of it. */
const sealedColumns = {
  ...entryColumns,
  seq: 'integer',
  hash: 'bytes?',
  keyed: 'integer?',
} as const
export type SealedRow = Row<typeof sealedColumns>

const end = statement({
  name: 'audit-chain.end',
  text: 'SELECT seq, hash FROM audit_chain_ends WHERE name = :name',
  params: { name: 'text' },
  row: { seq: 'integer', hash: 'bytes' },
})

const moveEnd = statement({
  name: 'audit-chain.move-end',
  text: `INSERT INTO audit_chain_ends (name, seq, hash) VALUES (:name, :seq, :hash)
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`,
  params: { name: 'text', seq: 'integer', hash: 'bytes' },
})

/** Ids are time-ordered, so the first one is about the oldest. */
const unsealed = statement({
  name: 'audit-chain.unsealed',
  text: `SELECT ${names} FROM audit_entries WHERE seq IS NULL ORDER BY id LIMIT :limit`,
  params: { limit: 'integer' },
  row: entryColumns,
})

const oldestUnsealed = statement({
  name: 'audit-chain.oldest-unsealed',
  text: 'SELECT time_unix_ms FROM audit_entries WHERE seq IS NULL ORDER BY id LIMIT 1',
  row: { time_unix_ms: 'integer' },
})

const seal = batchStatement({
  name: 'audit-chain.seal',
  text: `UPDATE audit_entries SET seq = r.seq, hash = r.hash, keyed = r.keyed
    FROM {{rows}} AS r WHERE audit_entries.id = r.id`,
  params: { id: 'text', seq: 'integer', hash: 'bytes', keyed: 'integer' },
})

const sealedAfter = statement({
  name: 'audit-chain.sealed-after',
  text: `SELECT ${Object.keys(sealedColumns).join(', ')} FROM audit_entries
    WHERE seq IS NOT NULL AND seq > :after ORDER BY seq LIMIT :limit`,
  params: { after: 'integer', limit: 'integer' },
  row: sealedColumns,
})

const oldestSealed = statement({
  name: 'audit-chain.oldest-sealed',
  text: `SELECT seq, hash, time_unix_ms FROM audit_entries
    WHERE seq IS NOT NULL ORDER BY seq LIMIT :limit`,
  params: { limit: 'integer' },
  row: { seq: 'integer', hash: 'bytes', time_unix_ms: 'integer' },
})

const removeUpTo = statement({
  name: 'audit-chain.remove-up-to',
  text: 'DELETE FROM audit_entries WHERE seq IS NOT NULL AND seq <= :seq',
  params: { seq: 'integer' },
})

/**
 * The chain's ends: `head` is the newest link, `anchor` the last one that retention removed. A new
 * chain has neither.
 */
export type ChainEnd = 'head' | 'anchor'

/** Queries about the chain of the trail; every function takes the transaction first. */
export const chainStore = {
  end: (tx: Queries, name: ChainEnd): Promise<Link | undefined> => tx.get(end, { name }),
  moveEnd: (tx: Queries, name: ChainEnd, { seq, hash }: Link) =>
    tx.run(moveEnd, { name, seq, hash }),
  unsealed: (tx: Queries, limit: number): Promise<AuditRow[]> => tx.all(unsealed, { limit }),
  oldestUnsealed: (tx: Queries) => tx.get(oldestUnsealed, {}),
  seal: (tx: Queries, rows: readonly Row<(typeof seal)['params']>[]) => tx.each(seal, rows),
  sealedAfter: (tx: Queries, page: { after: number; limit: number }) => tx.all(sealedAfter, page),
  oldestSealed: (tx: Queries, limit: number) => tx.all(oldestSealed, { limit }),
  removeUpTo: (tx: Queries, seq: number) => tx.run(removeUpTo, { seq }),
}
