import type { Queries } from '../../../database/database.ts'
import { batchStatement, type Row, statement } from '../../../database/statement.ts'
import { entryColumns } from '../audit.store.ts'
import type { Link } from './chain.ts'

/** A row of the chain as it is stored, whatever somebody has made of it. */
const sealedColumns = { ...entryColumns, seq: 'integer', hash: 'bytes', keyed: 'integer' } as const
export type SealedRow = Row<typeof sealedColumns>
const sealedNames = Object.keys(sealedColumns)

const entryNames = Object.keys(entryColumns)

/**
 * A row that waits for its link; `number` distinguishes it from a repeat of the same entry, and
 * `sealed_as` is the place that one has in the chain already.
 */
const unsealedColumns = { ...entryColumns, number: 'integer', sealed_as: 'integer?' } as const
export type UnsealedRow = Row<typeof unsealedColumns>

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

/**
 * In about the order in which they were written. A scalar subquery, because every engine looks up
 * each row of it by itself: of an EXISTS, PostgreSQL may make a table of all the ids there are.
 */
const unsealed = statement({
  name: 'audit-chain.unsealed',
  text: `SELECT u.*, (SELECT e.seq FROM audit_entries e WHERE e.id = u.id) AS sealed_as
    FROM (SELECT ${entryNames.join(', ')}, number FROM audit_unsealed
      ORDER BY number LIMIT :limit) AS u
    ORDER BY u.number`,
  params: { limit: 'integer' },
  row: unsealedColumns,
})

const endsKeyed = statement({
  name: 'audit-chain.ends-keyed',
  text: 'SELECT keyed FROM audit_entries ORDER BY seq DESC LIMIT 1',
  row: { keyed: 'flag' },
})

const oldestUnsealed = statement({
  name: 'audit-chain.oldest-unsealed',
  text: 'SELECT time_unix_ms FROM audit_unsealed ORDER BY number LIMIT 1',
  row: { time_unix_ms: 'integer' },
})

/** The entries themselves stay in the database: what is sent is their places and hashes. */
const seal = batchStatement({
  name: 'audit-chain.seal',
  text: `INSERT INTO audit_entries (${entryNames.join(', ')}, seq, hash, keyed)
    SELECT ${entryNames.map((name) => `u.${name}`).join(', ')}, r.seq, r.hash, r.keyed
    FROM {{rows}} AS r JOIN audit_unsealed AS u ON u.number = r.number`,
  params: { number: 'integer', seq: 'integer', hash: 'bytes', keyed: 'integer' },
})
export type Seal = Row<(typeof seal)['params']>

const removeUnsealed = batchStatement({
  name: 'audit-chain.remove-unsealed',
  text: 'DELETE FROM audit_unsealed USING {{rows}} AS r WHERE audit_unsealed.number = r.number',
  params: { number: 'integer' },
})

const sealedAfter = statement({
  name: 'audit-chain.sealed-after',
  text: `SELECT ${sealedNames.join(', ')} FROM audit_entries WHERE seq > :after
    ORDER BY seq LIMIT :limit`,
  params: { after: 'integer', limit: 'integer' },
  row: sealedColumns,
})

const oldestSealed = statement({
  name: 'audit-chain.oldest-sealed',
  text: 'SELECT seq, hash FROM audit_entries ORDER BY seq LIMIT :limit',
  params: { limit: 'integer' },
  row: { seq: 'integer', hash: 'bytes' },
})

/** Without those that a clock which was wrong has put into the future. */
const oldestDated = statement({
  name: 'audit-chain.oldest-dated',
  text: `SELECT seq, time_unix_ms FROM audit_entries WHERE time_unix_ms <= :now_unix_ms
    ORDER BY seq LIMIT :limit`,
  params: { now_unix_ms: 'integer', limit: 'integer' },
  row: { seq: 'integer', time_unix_ms: 'integer' },
})

const removeUpTo = statement({
  name: 'audit-chain.remove-up-to',
  text: 'DELETE FROM audit_entries WHERE seq <= :seq',
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
  unsealed: (tx: Queries, limit: number): Promise<UnsealedRow[]> => tx.all(unsealed, { limit }),
  /** Whether the newest row that is sealed was linked with a key. */
  endsKeyed: async (tx: Queries) => (await tx.get(endsKeyed, {}))?.keyed ?? false,
  oldestUnsealed: (tx: Queries) => tx.get(oldestUnsealed, {}),
  seal: (tx: Queries, seals: readonly Seal[]) => tx.each(seal, seals),
  removeUnsealed: (tx: Queries, rows: readonly { number: number }[]) =>
    tx.each(
      removeUnsealed,
      rows.map(({ number }) => ({ number })),
    ),
  sealedAfter: (tx: Queries, page: { after: number; limit: number }) => tx.all(sealedAfter, page),
  oldestSealed: (tx: Queries, limit: number) => tx.all(oldestSealed, { limit }),
  oldestDated: (tx: Queries, page: { now_unix_ms: number; limit: number }) =>
    tx.all(oldestDated, page),
  removeUpTo: (tx: Queries, seq: number) => tx.run(removeUpTo, { seq }),
}
