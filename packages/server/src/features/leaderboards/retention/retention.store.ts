import type { Queries } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'

/** `period` counts up, so the newest periods of a board have the largest numbers. */
const dropSurplus = statement({
  name: 'leaderboards.drop-surplus',
  text: `UPDATE leaderboard_periods SET board_id = NULL WHERE period IN (
    SELECT s.period FROM (
      SELECT p.period, ROW_NUMBER() OVER (PARTITION BY p.board_id ORDER BY p.period DESC) AS age
      FROM leaderboard_periods p
      WHERE p.board_id IS NOT NULL AND p.closed_at_unix_ms IS NOT NULL) AS s
    WHERE s.age > :kept ORDER BY s.period LIMIT :batch_items)`,
  params: { kept: 'integer', batch_items: 'integer' },
})

const oldestDropped = statement({
  name: 'leaderboards.oldest-dropped',
  text: `SELECT p.period FROM leaderboard_periods p WHERE p.board_id IS NULL
    ORDER BY p.period LIMIT 1 {{for update of p}}`,
  row: { period: 'integer' },
})

const batchParams = { period: 'integer', batch_items: 'integer' } as const

const removeRecords = statement({
  name: 'leaderboards.prune-records',
  text: `DELETE FROM leaderboard_records WHERE period = :period AND place IN (
    SELECT e.place FROM leaderboard_records e WHERE e.period = :period
    ORDER BY e.place LIMIT :batch_items)`,
  params: batchParams,
})

const removeBlocks = statement({
  name: 'leaderboards.prune-blocks',
  text: `DELETE FROM leaderboard_blocks
    WHERE period = :period AND (level, bound) IN (
      SELECT k.level, k.bound FROM leaderboard_blocks k WHERE k.period = :period
      ORDER BY k.level, k.bound LIMIT :batch_items)`,
  params: batchParams,
})

const removePeriod = statement({
  name: 'leaderboards.prune-period',
  text: 'DELETE FROM leaderboard_periods WHERE period = :period',
  params: { period: 'integer' },
})

type Batch = Row<typeof batchParams>

/** Queries about periods that no board has any more; every function takes the transaction first. */
export const retentionStore = {
  /** Takes the oldest closed periods beyond the `kept` newest of each board from their boards. */
  dropSurplus: (tx: Queries, bounds: Row<(typeof dropSurplus)['params']>) =>
    tx.run(dropSurplus, bounds),
  /** The oldest period that has no board, locked. */
  oldestDropped: async (tx: Queries) => (await tx.get(oldestDropped, {}))?.period,
  removeRecords: (tx: Queries, batch: Batch) => tx.run(removeRecords, batch),
  removeBlocks: (tx: Queries, batch: Batch) => tx.run(removeBlocks, batch),
  removePeriod: (tx: Queries, period: number) => tx.run(removePeriod, { period }),
}
