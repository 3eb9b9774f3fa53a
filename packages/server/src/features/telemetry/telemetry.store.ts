import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { telemetrySlices } from '../../database/tables/play-records.ts'
import { pick } from '../../database/tables/table.ts'

const columns = telemetrySlices.columns
const names = Object.keys(columns)
export type SliceRow = Row<typeof columns>

/** A slice that is written again, because the commit was not heard of, stays one. */
const insert = batchStatement({
  name: 'telemetry.insert',
  text: `INSERT INTO telemetry_slices (${names.join(', ')})
    SELECT ${names.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r WHERE true
    ON CONFLICT (report_id) DO NOTHING`,
  params: columns,
})

const byId = statement({
  name: 'telemetry.by-id',
  text: `SELECT ${names.join(', ')} FROM telemetry_slices WHERE report_id = :report_id`,
  params: pick(telemetrySlices, 'report_id'),
  row: columns,
})

const page = { after: 'text', limit: 'integer' } as const

const list = statement({
  name: 'telemetry.list',
  text: `SELECT ${names.join(', ')} FROM telemetry_slices WHERE report_id < :after
    ORDER BY report_id DESC LIMIT :limit`,
  params: page,
  row: columns,
})

const listOfMatch = statement({
  name: 'telemetry.list-of-match',
  text: `SELECT ${names.join(', ')} FROM telemetry_slices
    WHERE match_id = :match_id AND report_id < :after ORDER BY report_id DESC LIMIT :limit`,
  params: { match_id: 'text', ...page },
  row: columns,
})

const count = statement({
  name: 'telemetry.count',
  text: 'SELECT COUNT(*) AS slices FROM telemetry_slices WHERE match_id = :match_id',
  params: { match_id: 'text' },
  row: { slices: 'integer' },
  long: true,
})

const prune = statement({
  name: 'telemetry.prune',
  text: `DELETE FROM telemetry_slices WHERE report_id IN (
      SELECT report_id FROM telemetry_slices WHERE closed_at_unix_ms <= :expired_unix_ms
      ORDER BY closed_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

export type SliceQuery = {
  match_id?: string | undefined
  after?: string | undefined
  limit: number
}

/** Behind every id. */
const last = '\u{10ffff}'

/** Queries about telemetry slices; every function takes the transaction first. */
export const telemetryStore = {
  insert: (tx: Queries, rows: readonly SliceRow[]) => tx.each(insert, rows),
  byId: (tx: Queries, report_id: string) => tx.get(byId, { report_id }),
  count: async (tx: Queries, match_id: string) => (await tx.get(count, { match_id }))?.slices ?? 0,
  /** The newest behind the cursor. */
  list: (tx: Queries, { match_id, after = last, limit }: SliceQuery) =>
    match_id === undefined
      ? tx.all(list, { after, limit })
      : tx.all(listOfMatch, { match_id, after, limit }),
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
