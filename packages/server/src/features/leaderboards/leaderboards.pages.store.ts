import type { Database } from '../../database/database.ts'
import { lookup, type Row } from '../../database/statement.ts'

/** A page that begins later finds its first record by the blocks instead of walking to it. */
const nearRecordsMax = 100

const pageParams = { board_id: 'text', wanted: 'integer', skipped: 'integer' } as const
const pageRow = { ...pageParams, total: 'integer', records: 'text?' } as const
export type PageRow = Row<typeof pageRow>

/** No text of JSON has this letter. */
export const betweenRecords = '\n'

/** The members of a record as JSON, in the order of the contract, behind its rank. */
const recordText = `'"user_id":' || {{json e.user_id}} || ',"score":' || e.score
  || ',"subscore":' || e.subscore || ',"metadata":' || COALESCE(e.metadata, 'null')
  || ',"updated_at_unix_ms":' || e.updated_at_unix_ms || ',"submissions":' || e.submissions`

/**
 * A lookup, so that pages of a turn are one statement on PostgreSQL. The records of a page are one
 * text of JSON: to make values of their columns and to write those costs more than to find them. In
 * rank order, because nothing is done with the sorted records besides.
 */
function page(name: string, { blocks = '', from = '', before = '' }) {
  return lookup({
    name,
    text: `SELECT r.board_id, r.wanted, r.skipped, b.records AS total, (
        ${blocks} SELECT string_agg(${recordText}, '${betweenRecords}') FROM (
          SELECT e.* FROM leaderboard_records e WHERE e.period = b.period ${from}
          ORDER BY e.place LIMIT {{value r.wanted}} OFFSET {{value r.skipped}} ${before}
        ) AS e) AS records
      FROM {{rows}} AS r JOIN leaderboards b ON b.id = r.board_id`,
    params: pageParams,
    row: pageRow,
  })
}

const nearPage = page('leaderboards.near-page', {})

/** The block of a level that has the record at the offset, and how many records lie before it. */
function blockAtOffset(name: string, level: number, above?: string): string {
  const start = above === undefined ? '' : `AND k.bound >= (SELECT bound FROM ${above})`
  const before = above === undefined ? '0' : `(SELECT before FROM ${above})`
  return `${name} AS MATERIALIZED (SELECT s.bound, s.before FROM (
      SELECT k.bound, k.records, CAST(${before} - k.records
        + SUM(k.records) OVER (ORDER BY k.bound ROWS UNBOUNDED PRECEDING) AS bigint) AS before
      FROM leaderboard_blocks k
      WHERE k.period = (SELECT period FROM board) AND k.level = ${level} ${start}) AS s
    WHERE s.before <= {{value r.skipped}} AND s.before + s.records > {{value r.skipped}}
    LIMIT 1)`
}

const farPage = page('leaderboards.far-page', {
  blocks: `WITH
    board AS MATERIALIZED (SELECT period FROM leaderboards WHERE id = {{value r.board_id}}),
    ${blockAtOffset('top', 3)}, ${blockAtOffset('mid', 2, 'top')},
    ${blockAtOffset('low', 1, 'mid')}`,
  from: 'AND e.place >= (SELECT bound FROM low)',
  // Behind the last record there is no block, and then no record is found whatever is skipped.
  before: '- COALESCE((SELECT before FROM low), {{value r.skipped}})',
})

export const pagesStore = {
  /** The records from an offset on, and the number of all, as of one moment. */
  page: (db: Database, wanted: Row<typeof pageParams>) =>
    db.find(wanted.skipped > nearRecordsMax ? farPage : nearPage, wanted),
}
