import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'

/** Blocks of a higher level begin where one of the level below begins. */
export type Level = 1 | 2 | 3
export const topLevel = 3

const at = { period: 'integer', level: 'integer', bound: 'bytes' } as const
const blockRow = { bound: 'bytes', records: 'integer' } as const
export type BlockRow = Row<typeof blockRow>
export type BlockKey = { period: number; level: Level; bound: Uint8Array }

/** The bound of the block of a level that a place belongs to. */
export function boundAt(level: Level, period: string, place: string): string {
  return `(SELECT k.bound FROM leaderboard_blocks k WHERE k.period = ${period}
    AND k.level = ${level} AND k.bound <= ${place} ORDER BY k.bound DESC LIMIT 1)`
}

const placed = { period: 'integer', place: 'bytes' } as const
const locatedRow = { ...placed, low: 'bytes', mid: 'bytes', top: 'bytes' } as const
export type LocatedRow = Row<typeof locatedRow>

const locate = batchStatement({
  name: 'leaderboards.locate',
  text: `SELECT r.period, r.place, ${boundAt(1, 'r.period', 'r.place')} AS low,
      ${boundAt(2, 'r.period', 'r.place')} AS mid, ${boundAt(3, 'r.period', 'r.place')} AS top
    FROM {{rows}} AS r`,
  params: placed,
  row: locatedRow,
})

const count = batchStatement({
  name: 'leaderboards.count-blocks',
  text: `UPDATE leaderboard_blocks SET records = leaderboard_blocks.records + r.delta
    FROM {{rows}} AS r
    WHERE leaderboard_blocks.period = r.period AND leaderboard_blocks.level = r.level
      AND leaderboard_blocks.bound = r.bound
    RETURNING leaderboard_blocks.period AS period, leaderboard_blocks.level AS level,
      leaderboard_blocks.bound AS bound, leaderboard_blocks.records AS records`,
  params: { ...at, delta: 'integer' },
  row: { ...at, records: 'integer' },
})

const insert = batchStatement({
  name: 'leaderboards.insert-blocks',
  text: `INSERT INTO leaderboard_blocks (period, level, bound, records)
    SELECT r.period, r.level, r.bound, r.records FROM {{rows}} AS r`,
  params: { ...at, records: 'integer' },
})

const remove = statement({
  name: 'leaderboards.remove-block',
  text: `DELETE FROM leaderboard_blocks
    WHERE period = :period AND level = :level AND bound = :bound`,
  params: at,
})

const get = statement({
  name: 'leaderboards.block',
  text: `SELECT k.bound, k.records FROM leaderboard_blocks k
    WHERE k.period = :period AND k.level = :level AND k.bound = :bound`,
  params: at,
  row: blockRow,
})

const before = statement({
  name: 'leaderboards.block-before',
  text: `SELECT k.bound, k.records FROM leaderboard_blocks k
    WHERE k.period = :period AND k.level = :level AND k.bound < :bound
    ORDER BY k.bound DESC LIMIT 1`,
  params: at,
  row: blockRow,
})

const after = statement({
  name: 'leaderboards.block-after',
  text: `SELECT k.bound, k.records FROM leaderboard_blocks k
    WHERE k.period = :period AND k.level = :level AND k.bound > :bound
    ORDER BY k.bound LIMIT 1`,
  params: at,
  row: blockRow,
})

/** The blocks of a level from a bound up to another, or to the end. */
const between = statement({
  name: 'leaderboards.blocks-between',
  text: `SELECT k.bound, k.records FROM leaderboard_blocks k
    WHERE k.period = :period AND k.level = :level AND k.bound >= :bound
      AND (:until IS NULL OR k.bound < :until)
    ORDER BY k.bound`,
  params: { ...at, until: 'bytes?' },
  row: blockRow,
})

const placeAfter = statement({
  name: 'leaderboards.place-after',
  text: `SELECT e.place FROM leaderboard_records e
    WHERE e.period = :period AND e.place >= :bound
    ORDER BY e.place LIMIT 1 OFFSET :skipped`,
  params: { period: 'integer', bound: 'bytes', skipped: 'integer' },
  row: { place: 'bytes' },
})

/** Queries about the blocks that count records; every function takes the transaction first. */
export const blocksStore = {
  /** The bounds of the blocks that places belong to, one per level. */
  locate: (tx: Queries, places: readonly Row<typeof placed>[]) => tx.each(locate, places),
  /** Adds to the counts of blocks; answers the new ones. */
  count: (tx: Queries, changes: readonly Row<(typeof count)['params']>[]) =>
    tx.each(count, changes),
  insert: (tx: Queries, blocks: readonly Row<(typeof insert)['params']>[]) =>
    tx.each(insert, blocks),
  remove: (tx: Queries, block: BlockKey) => tx.run(remove, block),
  get: (tx: Queries, block: BlockKey) => tx.get(get, block),
  before: (tx: Queries, block: BlockKey) => tx.get(before, block),
  after: (tx: Queries, block: BlockKey) => tx.get(after, block),
  between: (tx: Queries, range: BlockKey & { until: Uint8Array | null }) => tx.all(between, range),
  /** The place of the record that comes `skipped` records after the first one of a block. */
  placeAfter: async (tx: Queries, from: { period: number; bound: Uint8Array; skipped: number }) =>
    (await tx.get(placeAfter, from))?.place,
}
