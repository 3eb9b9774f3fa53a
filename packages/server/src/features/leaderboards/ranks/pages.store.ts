import type { Database } from '../../../database/database.ts'
import { lookup, type Row, statement } from '../../../database/statement.ts'
import { recordNames } from '../leaderboards.store.ts'

/** A page that begins later finds its first record by the blocks instead of walking to it. */
const nearRecordsMax = 100

const pageParams = { board_id: 'text', wanted: 'integer', skipped: 'integer' } as const
export type PageWanted = Row<typeof pageParams>

/** How a text spells the parameters: written pages are asked for many at a time. */
type Spelling = { board: string; wanted: string; skipped: string }
const alone: Spelling = {
  board: ':board_id',
  wanted: '{{unplanned :wanted}}',
  skipped: '{{unplanned :skipped}}',
}
const ofRow: Spelling = {
  board: '{{value r.board_id}}',
  wanted: '{{value r.wanted}}',
  skipped: '{{value r.skipped}}',
}

/** The block of a level that has the first record, and how many records lie before it. */
function blockOf(name: string, level: number, { skipped }: Spelling, above?: string): string {
  const start = above === undefined ? '' : `AND k.bound >= (SELECT bound FROM ${above})`
  const before = above === undefined ? '0' : `(SELECT before FROM ${above})`
  return `${name} AS MATERIALIZED (SELECT s.bound, s.before FROM (
      SELECT k.bound, k.records, CAST(${before} - k.records
        + SUM(k.records) OVER (ORDER BY k.bound ROWS UNBOUNDED PRECEDING) AS bigint) AS before
      FROM leaderboard_blocks k
      WHERE k.period = (SELECT period FROM board) AND k.level = ${level} ${start}) AS s
    WHERE s.before <= ${skipped} AND s.before + s.records > ${skipped} LIMIT 1)`
}

function boardOf({ board }: Spelling): string {
  return `WITH board AS MATERIALIZED (SELECT period, records FROM leaderboards WHERE id = ${board})`
}

/** What comes in front of a page, and where its records are, in rank order. */
function nearRecords(by: Spelling) {
  const head = boardOf(by)
  const from = `leaderboard_records e WHERE e.period = (SELECT period FROM board)
    ORDER BY e.place LIMIT ${by.wanted} OFFSET ${by.skipped}`
  return { head, from }
}

function farRecords(by: Spelling) {
  const head = `${boardOf(by)}, ${blockOf('top', 3, by)}, ${blockOf('mid', 2, by, 'top')},
    ${blockOf('low', 1, by, 'mid')}`
  // Behind the last record there is no block, and then no record is found whatever is skipped.
  const from = `leaderboard_records e
    WHERE e.period = (SELECT period FROM board) AND e.place >= (SELECT bound FROM low)
    ORDER BY e.place LIMIT ${by.wanted}
    OFFSET ${by.skipped} - COALESCE((SELECT before FROM low), ${by.skipped})`
  return { head, from }
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

function page(name: string, { head, from }: ReturnType<typeof nearRecords>) {
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

const nearPage = page('leaderboards.near-page', nearRecords(alone))
const farPage = page('leaderboards.far-page', farRecords(alone))

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
function writtenPage(name: string, { head, from }: ReturnType<typeof nearRecords>) {
  return lookup({
    name,
    text: `SELECT r.board_id, r.wanted, r.skipped, b.records AS total, (
        ${head} SELECT string_agg(${recordText}, '${betweenRecords}')
        FROM (SELECT e.* FROM ${from}) AS e) AS records
      FROM {{rows}} AS r JOIN leaderboards b ON b.id = r.board_id`,
    params: pageParams,
    row: { ...pageParams, total: 'integer', records: 'text?' },
  })
}

const nearWrittenPage = writtenPage('leaderboards.near-written-page', nearRecords(ofRow))
const farWrittenPage = writtenPage('leaderboards.far-written-page', farRecords(ofRow))
export type WrittenPageRow = Row<(typeof nearWrittenPage)['row']>

/** The records from an offset on, and the number of all, as of one moment. */
export const pagesStore = {
  page: (db: Database, wanted: PageWanted) =>
    db.all(wanted.skipped > nearRecordsMax ? farPage : nearPage, wanted),
  written: (db: Database, wanted: PageWanted) =>
    db.find(wanted.skipped > nearRecordsMax ? farWrittenPage : nearWrittenPage, wanted),
}
