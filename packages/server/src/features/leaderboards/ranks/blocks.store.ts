import type { Queries } from '../../../database/database.ts'
import {
  batchStatement,
  type Engine,
  eachEngine,
  type Row,
  statement,
} from '../../../database/statement.ts'

/** Blocks of a higher level begin where one of the level below begins. */
export type Level = 1 | 2 | 3
export const topLevel = 3

const at = { period: 'integer', level: 'integer', bound: 'bytes' } as const
const blockRow = { bound: 'bytes', records: 'integer' } as const
export type BlockRow = Row<typeof blockRow>
export type BlockKey = { period: number; level: Level; bound: Uint8Array }

/** The bound of the block of a level that the record `row` belongs to. */
export function boundAt(level: Level, row: string): string {
  return blockAt(level, row, { answer: 'k.bound' })
}

function blockAt(
  level: Level,
  row: string,
  { answer, narrowed = '' }: { answer: string; narrowed?: string },
): string {
  return `(SELECT ${answer} FROM leaderboard_blocks k WHERE k.period = ${row}.period
    AND k.level = ${level} AND k.bound <= ${row}.place ${narrowed} ORDER BY k.bound DESC LIMIT 1)`
}

/**
 * `columns` of the rows of `placed`, which have a period and a place, together with `blocksRow`.
 * On PostgreSQL, which reads an index to the end of a page or of the range, each level is sought
 * within the block above.
 */
function withBlocks(engine: Engine, columns: readonly string[], placed: string): string {
  // On SQLite a text is answered in a fifth of the time of bytes.
  const hex = (bytes: string) =>
    engine === 'postgres' ? `encode(${bytes}, 'hex')` : `hex(${bytes})`
  const top = `SELECT p.*, ${boundAt(3, 'p')} AS top FROM ${placed} AS p {{fence}}`
  const below = (above: string) => (engine === 'postgres' ? `AND k.bound >= p.${above}` : '')
  const mid = `SELECT p.*, ${blockAt(2, 'p', { answer: 'k.bound', narrowed: below('top') })} AS mid
    FROM (${top}) AS p {{fence}}`
  const counted = `${hex('k.bound')} || ' ' || k.records`
  const low = blockAt(1, 'p', { answer: counted, narrowed: below('mid') })
  const own = columns.map((name) => `p.${name}`).join(', ')
  return `SELECT ${own}, ${hex('p.top')} AS top, ${hex('p.mid')} AS mid, ${low} AS low
    FROM (${mid}) AS p`
}

/**
 * The bounds of the blocks that a place belongs to, in hex. The lowest comes together with what it
 * counts, behind a space, so that it is sought once.
 */
const blocksRow = { low: 'text', mid: 'text', top: 'text' } as const

const placed = { period: 'integer', place: 'bytes', delta: 'integer' } as const
/** A record that comes (+1) or goes (-1), by its place. */
export type Change = Row<typeof placed>
const locatedRow = { period: 'integer', delta: 'integer', ...blocksRow } as const

const locate = batchStatement({
  name: 'leaderboards.locate',
  text: eachEngine((engine) => withBlocks(engine, ['period', 'delta'], '{{rows}}')),
  params: placed,
  row: locatedRow,
})

/** Answers nothing: on SQLite a RETURNING costs as much as the change. */
const count = batchStatement({
  name: 'leaderboards.count-blocks',
  text: `UPDATE leaderboard_blocks SET records = leaderboard_blocks.records + r.delta
    FROM {{rows}} AS r
    WHERE leaderboard_blocks.period = r.period AND leaderboard_blocks.level = r.level
      AND leaderboard_blocks.bound = r.bound`,
  params: { ...at, delta: 'integer' },
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

/** The block of a level that a bound of another level lies in. */
const around = statement({
  name: 'leaderboards.block-around',
  text: `SELECT k.bound, k.records FROM leaderboard_blocks k
    WHERE k.period = :period AND k.level = :level AND k.bound <= :bound
    ORDER BY k.bound DESC LIMIT 1`,
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

const placesAfter = statement({
  name: 'leaderboards.places-after',
  text: `SELECT e.place FROM leaderboard_records e
    WHERE e.period = :period AND e.place >= :bound
    ORDER BY e.place LIMIT 2 OFFSET :skipped`,
  params: { period: 'integer', bound: 'bytes', skipped: 'integer' },
  row: { place: 'bytes' },
})

/** Queries about the blocks that count records; every function takes the transaction first. */
export const blocksStore = {
  /** The blocks that the places of changes belong to. */
  locate: (tx: Queries, changes: readonly Change[]) => tx.each(locate, changes),
  /** Adds to the counts of blocks. */
  count: (tx: Queries, changes: readonly Row<(typeof count)['params']>[]) =>
    tx.each(count, changes),
  insert: (tx: Queries, blocks: readonly Row<(typeof insert)['params']>[]) =>
    tx.each(insert, blocks),
  remove: (tx: Queries, block: BlockKey) => tx.run(remove, block),
  get: (tx: Queries, block: BlockKey) => tx.get(get, block),
  around: (tx: Queries, block: BlockKey) => tx.get(around, block),
  before: (tx: Queries, block: BlockKey) => tx.get(before, block),
  after: (tx: Queries, block: BlockKey) => tx.get(after, block),
  between: (tx: Queries, range: BlockKey & { until: Uint8Array | null }) => tx.all(between, range),
  /** The places of the two records that come `skipped` records after the first of a block. */
  placesAfter: (tx: Queries, from: Row<(typeof placesAfter)['params']>) =>
    tx.all(placesAfter, from),
}
