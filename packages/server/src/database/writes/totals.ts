import type { Queries, Transaction } from '../database.ts'
import { statement } from '../statement.ts'
import type { CountedTable } from '../tables/index.ts'

const grow = statement({
  name: 'totals.grow',
  text: `INSERT INTO totals (name, total) VALUES (:name, 1)
    ON CONFLICT (name) DO UPDATE SET total = totals.total + 1`,
  params: { name: 'text' },
})

const shrink = statement({
  name: 'totals.shrink',
  text: 'UPDATE totals SET total = total - 1 WHERE name = :name',
  params: { name: 'text' },
})

const of = statement({
  name: 'totals.of',
  text: 'SELECT total FROM totals WHERE name = :name',
  params: { name: 'text' },
  row: { total: 'integer' },
})

/**
 * How many rows a table has, kept in the transactions that add and remove them: counting a hundred
 * thousand rows takes PostgreSQL longer than everything else of a page. The row is locked until
 * the end of the transaction, so this suits tables that seldom grow, and it belongs behind the
 * transaction's other statements.
 */
export const totals = {
  grow: async (tx: Transaction, name: CountedTable): Promise<void> =>
    void (await tx.run(grow, { name })),
  shrink: async (tx: Transaction, name: CountedTable): Promise<void> =>
    void (await tx.run(shrink, { name })),
  of: async (tx: Queries, name: CountedTable): Promise<number> =>
    (await tx.get(of, { name }))?.total ?? 0,
}
