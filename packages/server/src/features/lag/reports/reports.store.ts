import type { Queries } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'
import { lagReports } from '../../../database/tables/lag.ts'
import { pick, without } from '../../../database/tables/table.ts'

const columns = lagReports.columns
export type ReportRow = Row<typeof columns>

/** All but the windows, which only one route shows. */
const shown = without(lagReports, 'windows_json')
const shownRow = { ...shown, raw_kept: 'flag' } as const
export type ShownReport = Row<typeof shownRow>

const names = Object.keys(columns)
const select = `SELECT ${Object.keys(shown)
  .map((name) => `r.${name}`)
  .join(', ')}, CASE WHEN EXISTS (SELECT 1 FROM lag_artifacts a WHERE a.handle = r.handle
    AND a.available = 1 AND a.node_id = :own_node_id) THEN 1 ELSE 0 END AS raw_kept
  FROM lag_reports r`

const insert = statement({
  name: 'lag-reports.insert',
  text: `INSERT INTO lag_reports (${names.join(', ')})
    VALUES (${names.map((name) => `:${name}`).join(', ')})
    ON CONFLICT (handle, decoder_version, analyzer_version, options_hash) DO NOTHING`,
  params: columns,
})

const byId = statement({
  name: 'lag-reports.by-id',
  text: `${select} WHERE r.report_id = :report_id`,
  params: { report_id: 'text', own_node_id: 'text' },
  row: shownRow,
})

const list = statement({
  name: 'lag-reports.list',
  text: `${select} WHERE r.report_id < :after ORDER BY r.report_id DESC LIMIT :limit`,
  params: { after: 'text', limit: 'integer', own_node_id: 'text' },
  row: shownRow,
})

const windows = statement({
  name: 'lag-reports.windows',
  text: 'SELECT windows_json FROM lag_reports WHERE report_id = :report_id',
  params: { report_id: 'text' },
  row: pick(lagReports, 'windows_json'),
})

const identity = pick(lagReports, 'handle', 'decoder_version', 'analyzer_version', 'options_hash')

const byIdentity = statement({
  name: 'lag-reports.by-identity',
  text: `SELECT report_id, status FROM lag_reports WHERE handle = :handle
    AND decoder_version = :decoder_version AND analyzer_version = :analyzer_version
    AND options_hash = :options_hash {{for update of lag_reports}}`,
  params: identity,
  row: pick(lagReports, 'report_id', 'status'),
})

const requeue = statement({
  name: 'lag-reports.requeue',
  text: `UPDATE lag_reports SET status = 'pending', runs = 0, result_json = NULL,
      windows_json = NULL, queued_at_unix_ms = :queued_at_unix_ms
    WHERE report_id = :report_id AND status <> 'pending'`,
  params: pick(lagReports, 'report_id', 'queued_at_unix_ms'),
})

const countPending = statement({
  name: 'lag-reports.count-pending',
  text: `SELECT COUNT(*) AS reports FROM lag_reports
    WHERE status = 'pending' AND node_id = :node_id`,
  params: { node_id: 'text' },
  row: { reports: 'integer' },
})

/** The oldest that waits for this node, with what its run needs. */
const next = statement({
  name: 'lag-reports.next',
  text: `SELECT r.report_id, r.handle, r.capture_id, r.participant, r.send_rate_hz, r.max_windows,
      r.runs, a.available, c.filters_json
    FROM lag_reports r
    LEFT JOIN lag_artifacts a ON a.handle = r.handle
    LEFT JOIN lag_captures c ON c.capture_id = r.capture_id
    WHERE r.status = 'pending' AND r.node_id = :node_id
    ORDER BY r.queued_at_unix_ms, r.report_id LIMIT 1`,
  params: { node_id: 'text' },
  row: {
    ...pick(lagReports, 'report_id', 'handle', 'capture_id', 'participant', 'send_rate_hz'),
    ...pick(lagReports, 'max_windows', 'runs'),
    available: 'integer?',
    filters_json: 'text?',
  },
})
export type PendingReport = Row<(typeof next)['row']>

const countRun = statement({
  name: 'lag-reports.count-run',
  text: 'UPDATE lag_reports SET runs = runs + 1 WHERE report_id = :report_id',
  params: { report_id: 'text' },
})

const finish = statement({
  name: 'lag-reports.finish',
  text: `UPDATE lag_reports SET status = :status, result_json = :result_json,
      windows_json = :windows_json
    WHERE report_id = :report_id AND status = 'pending'`,
  params: pick(lagReports, 'report_id', 'status', 'result_json', 'windows_json'),
})

const ofMatch = statement({
  name: 'lag-reports.of-match',
  text: `SELECT r.report_id, r.capture_id, r.status, r.created_at_unix_ms FROM lag_captures c
    JOIN lag_reports r ON r.capture_id = c.capture_id
    WHERE c.match_id = :match_id ORDER BY r.report_id DESC LIMIT :limit`,
  params: { match_id: 'text', limit: 'integer' },
  row: pick(lagReports, 'report_id', 'capture_id', 'status', 'created_at_unix_ms'),
})

const countOfMatch = statement({
  name: 'lag-reports.count-of-match',
  text: `SELECT COUNT(*) AS reports FROM lag_captures c
    JOIN lag_reports r ON r.capture_id = c.capture_id WHERE c.match_id = :match_id`,
  params: { match_id: 'text' },
  row: { reports: 'integer' },
  long: true,
})

const prune = statement({
  name: 'lag-reports.prune',
  text: `DELETE FROM lag_reports WHERE report_id IN (
      SELECT report_id FROM lag_reports WHERE created_at_unix_ms <= :expired_unix_ms
      ORDER BY created_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Queries about reports; every function takes the transaction first. */
export const reportsStore = {
  /** Nothing happens when there is a report of this identity. */
  insert: (tx: Queries, row: ReportRow) => tx.run(insert, row),
  byId: (tx: Queries, of: Row<(typeof byId)['params']>) => tx.get(byId, of),
  /** The newest behind the cursor. */
  list: (tx: Queries, query: Row<(typeof list)['params']>) => tx.all(list, query),
  windows: async (tx: Queries, report_id: string) =>
    (await tx.get(windows, { report_id }))?.windows_json ?? null,
  /** Locks it. */
  byIdentity: (tx: Queries, of: Row<typeof identity>) => tx.get(byIdentity, of),
  requeue: (tx: Queries, of: Row<(typeof requeue)['params']>) => tx.run(requeue, of),
  countPending: async (tx: Queries, node_id: string) =>
    (await tx.get(countPending, { node_id }))?.reports ?? 0,
  next: (tx: Queries, node_id: string) => tx.get(next, { node_id }),
  countRun: (tx: Queries, report_id: string) => tx.run(countRun, { report_id }),
  finish: (tx: Queries, result: Row<(typeof finish)['params']>) => tx.run(finish, result),
  ofMatch: (tx: Queries, match_id: string, limit: number) => tx.all(ofMatch, { match_id, limit }),
  countOfMatch: async (tx: Queries, match_id: string) =>
    (await tx.get(countOfMatch, { match_id }))?.reports ?? 0,
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
