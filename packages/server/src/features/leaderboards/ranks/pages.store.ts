import type { Database } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'
import { recordNames } from '../leaderboards.store.ts'

/** A page that begins later finds its first record by the blocks instead of walking to it. */
const nearRecordsMax = 100

const pageParams = { board_id: 'text', wanted: 'integer', skipped: 'integer' } as const
export type PageWanted = Row<typeof pageParams>

/** The block of a level that has the first record, and how many records lie before it. */
function blockOf(name: string, level: number, above?: string): string {
  const start = above === undefined ? '' : `AND k.bound >= (SELECT bound FROM ${above})`
  const before = above === undefined ? '0' : `(SELECT before FROM ${above})`
  return `${name} AS MATERIALIZED (SELECT s.bound, s.before FROM (
      SELECT k.bound, k.records, CAST(${before} - k.records
        + SUM(k.records) OVER (ORDER BY k.bound ROWS UNBOUNDED PRECEDING) AS bigint) AS before
      FROM leaderboard_blocks k
      WHERE k.period = (SELECT period FROM board) AND k.level = ${level} ${start}) AS s
    WHERE s.before <= {{unplanned :skipped}} AND s.before + s.records > {{unplanned :skipped}}
    LIMIT 1)`
}

const board = `WITH board AS MATERIALIZED (
    SELECT period, records FROM leaderboards WHERE id = :board_id)`

/** What comes in front of a page, and where its records are, in rank order. */
const nearRecords = {
  head: board,
  from: `leaderboard_records e WHERE e.period = (SELECT period FROM board)
    ORDER BY e.place LIMIT {{unplanned :wanted}} OFFSET {{unplanned :skipped}}`,
}

// Behind the last record there is no block, and then no record is found whatever is skipped.
const farRecords = {
  head: `${board}, ${blockOf('top', 3)}, ${blockOf('mid', 2, 'top')}, ${blockOf('low', 1, 'mid')}`,
  from: `leaderboard_records e
    WHERE e.period = (SELECT period FROM board) AND e.place >= (SELECT bound FROM low)
    ORDER BY e.place LIMIT {{unplanned :wanted}}
    OFFSET {{unplanned :skipped}} - COALESCE((SELECT before FROM low), {{unplanned :skipped}})`,
}

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

function page(name: string, { head, from }: typeof nearRecords) {
  const columns = recordNames.map((column) => `e.${column}`).join(', ')
  const none = recordNames.map((column) => `NULL AS ${column}`).join(', ')
  return statement({
    name,
    text: `${head} SELECT b.records AS total, ${none} FROM board b
      UNION ALL SELECT NULL, ${columns} FROM (SELECT ${columns} FROM ${from}) AS e`,
    params: pageParams,
    row: pageRow,
  })
}

const nearPage = page('leaderboards.near-page', nearRecords)
const farPage = page('leaderboards.far-page', farRecords)

/** The records from an offset on, and the number of all, as of one moment. */
export const pagesStore = {
  page: (db: Database, wanted: PageWanted) =>
    db.all(wanted.skipped > nearRecordsMax ? farPage : nearPage, wanted),
}
