import type { Queries } from '../../database/database.ts'
import { type ColumnType, lookup, type Row, statement } from '../../database/statement.ts'
import { boundAt } from './leaderboards.blocks.store.ts'
import { recordNames, recordRow } from './leaderboards.store.ts'

const recordsOfE = recordNames.map((name) => `e.${name}`).join(', ')

/** A page that begins later finds its first record by the blocks instead of walking to it. */
const nearRecordsMax = 100

/** Records of the blocks of a level that lie before a bound, from the bound of the level above. */
function sumBefore(level: number, { from, until }: { from?: string; until: string }): string {
  const start = from === undefined ? '' : `AND k.bound >= ${from}`
  return `(SELECT COALESCE(SUM(k.records), 0) FROM leaderboard_blocks k
    WHERE k.period = e.period AND k.level = ${level} ${start} AND k.bound < ${until})`
}

/** The columns of a record `e` together with the bounds of the blocks that count it. */
const placedRecord = `e.period, e.place, ${recordsOfE}, ${boundAt(3, 'e')} AS top,
  ${boundAt(2, 'e')} AS mid, ${boundAt(1, 'e')} AS low`

/** The rank of a placed record: what the blocks before its own count, and the records before it. */
const rankOfE = `CAST(1 + ${sumBefore(3, { until: 'e.top' })}
  + ${sumBefore(2, { from: 'e.top', until: 'e.mid' })}
  + ${sumBefore(1, { from: 'e.mid', until: 'e.low' })}
  + (SELECT COUNT(*) FROM leaderboard_records o
    WHERE o.period = e.period AND o.place >= e.low AND o.place < e.place) AS bigint)`

const owner = { board_id: 'text', user_id: 'text' } as const

const ranked = lookup({
  name: 'leaderboards.ranked-record',
  text: `WITH e AS MATERIALIZED (SELECT r.board_id, ${placedRecord}
      FROM {{rows}} AS r JOIN leaderboards b ON b.id = r.board_id
      JOIN leaderboard_records e ON e.period = b.period AND e.user_id = r.user_id)
    SELECT e.board_id, ${recordsOfE}, ${rankOfE} AS rank FROM e`,
  params: owner,
  row: { ...owner, ...recordRow, rank: 'integer' },
})

/** The first row has the total and no record; the others have a record, in rank order. */
const pageRow = {
  total: 'integer?',
  user_id: 'text?',
  score: 'bigint?',
  subscore: 'bigint?',
  metadata: 'text?',
  updated_at_unix_ms: 'integer?',
  submissions: 'integer?',
} as const
export type PageRow = Row<typeof pageRow>
const noRecord = recordNames.map((name) => `NULL AS ${name}`).join(', ')

/** No text of JSON has this letter, so it stands between written records. */
export const betweenWritten = '\n'

/** The members of a record as JSON, without its rank and the bracket before that. */
const recordAsJson = Object.entries(recordRow)
  .map(([name, type], at) => `'${at === 0 ? '' : ','}"${name}":' || ${asJson(name, type)}`)
  .join(' || ')
  .concat(` || '}'`)

function asJson(name: string, type: ColumnType): string {
  if (name === 'metadata') return `COALESCE(e.metadata, 'null')`
  return type === 'text' ? `{{json e.${name}}}` : `e.${name}`
}

/** `records` is null when there are none at the offset. */
const writtenRow = { total: 'integer', records: 'text?' } as const

const pageParams = { board_id: 'text', limit: 'integer', offset: 'integer' } as const

/** Where the records of a page are, in rank order. */
const nearRecords = `leaderboard_records e
  WHERE e.period = (SELECT o.period FROM leaderboards o WHERE o.id = :board_id)
  ORDER BY e.place LIMIT {{unplanned :limit}} OFFSET {{unplanned :offset}}`

const nearPage = statement({
  name: 'leaderboards.near-page',
  text: `SELECT b.records AS total, ${noRecord} FROM leaderboards b WHERE b.id = :board_id
    UNION ALL
    SELECT NULL, ${recordsOfE} FROM (SELECT ${recordsOfE} FROM ${nearRecords}) AS e`,
  params: pageParams,
  row: pageRow,
})

/** In order, because nothing is done with the sorted rows besides. */
function writtenRows(records: string): string {
  return `(SELECT string_agg(j.record, '${betweenWritten}')
    FROM (SELECT ${recordAsJson} AS record FROM ${records}) AS j)`
}

const nearWrittenPage = statement({
  name: 'leaderboards.near-written-page',
  text: `SELECT b.records AS total, ${writtenRows(nearRecords)} AS records
    FROM leaderboards b WHERE b.id = :board_id`,
  params: pageParams,
  row: writtenRow,
})

/** The block of a level that has the record at the offset, and how many records lie before it. */
function blockAtOffset(name: string, level: number, above?: string): string {
  const start = above === undefined ? '' : `AND k.bound >= (SELECT bound FROM ${above})`
  const before = above === undefined ? '0' : `(SELECT before FROM ${above})`
  return `${name} AS MATERIALIZED (SELECT s.bound, s.before FROM (
      SELECT k.bound, k.records, CAST(${before} - k.records
        + SUM(k.records) OVER (ORDER BY k.bound ROWS UNBOUNDED PRECEDING) AS bigint) AS before
      FROM leaderboard_blocks k
      WHERE k.period = (SELECT period FROM board) AND k.level = ${level} ${start}) AS s
    WHERE s.before <= :offset AND s.before + s.records > :offset LIMIT 1)`
}

const blocksAtOffset = `WITH
  board AS MATERIALIZED (SELECT period, records FROM leaderboards WHERE id = :board_id),
  ${blockAtOffset('top', 3)}, ${blockAtOffset('mid', 2, 'top')}, ${blockAtOffset('low', 1, 'mid')}`

const farRecords = `leaderboard_records e
  WHERE e.period = (SELECT period FROM board) AND e.place >= (SELECT bound FROM low)
  ORDER BY e.place LIMIT {{unplanned :limit}}
  OFFSET {{unplanned :offset}} - COALESCE((SELECT before FROM low), :offset)`

const farPage = statement({
  name: 'leaderboards.far-page',
  text: `${blocksAtOffset}
    SELECT b.records AS total, ${noRecord} FROM board b
    UNION ALL
    SELECT NULL, ${recordsOfE} FROM (SELECT ${recordsOfE} FROM ${farRecords}) AS e`,
  params: pageParams,
  row: pageRow,
})

const farWrittenPage = statement({
  name: 'leaderboards.far-written-page',
  text: `${blocksAtOffset}
    SELECT b.records AS total, ${writtenRows(farRecords)} AS records FROM board b`,
  params: pageParams,
  row: writtenRow,
})

const aroundRow = { ...recordRow, is_before: 'flag', owner_rank: 'integer' } as const
export type AroundRow = Row<typeof aroundRow>

/** One statement, so that the rank of the owner and the records beside it are of one moment. */
const around = statement({
  name: 'leaderboards.around',
  text: `WITH owner AS MATERIALIZED (SELECT e.period, e.place, ${rankOfE} AS rank FROM (
      SELECT ${placedRecord} FROM leaderboards b
      JOIN leaderboard_records e ON e.period = b.period AND e.user_id = :user_id
      WHERE b.id = :board_id) AS e)
    SELECT ${recordsOfE}, 1 AS is_before, (SELECT rank FROM owner) AS owner_rank FROM (
      SELECT e.* FROM leaderboard_records e
      WHERE e.period = (SELECT period FROM owner) AND e.place < (SELECT place FROM owner)
      ORDER BY e.place DESC LIMIT :before) AS e
    UNION ALL
    SELECT ${recordsOfE}, 0, (SELECT rank FROM owner) FROM (
      SELECT e.* FROM leaderboard_records e
      WHERE e.period = (SELECT period FROM owner) AND e.place >= (SELECT place FROM owner)
      ORDER BY e.place LIMIT :after + 1) AS e`,
  params: { ...owner, before: 'integer', after: 'integer' },
  row: aroundRow,
})

const exists = statement({
  name: 'leaderboards.exists',
  text: 'SELECT id FROM leaderboards WHERE id = :id',
  params: { id: 'text' },
  row: { id: 'text' },
})

/** Reads of ranks. Each is one statement, so what it answers held at one moment. */
export const ranksStore = {
  page: (tx: Queries, page: Row<typeof pageParams>) =>
    tx.all(page.offset > nearRecordsMax ? farPage : nearPage, page),
  /** The same page with its records as JSON, `betweenWritten`; undefined without a board. */
  writtenPage: (tx: Queries, page: Row<typeof pageParams>) =>
    tx.get(page.offset > nearRecordsMax ? farWrittenPage : nearWrittenPage, page),
  ranked,
  /** The records of these owners with their ranks, as of one moment. */
  rankedAll: (tx: Queries, owners: readonly Row<typeof owner>[]) => tx.each(ranked, owners),
  /** In no order; those before the owner and those from the owner on, in a row. */
  around: (tx: Queries, wanted: Row<(typeof around)['params']>) => tx.all(around, wanted),
  exists: async (tx: Queries, id: string) => (await tx.get(exists, { id })) !== undefined,
}
