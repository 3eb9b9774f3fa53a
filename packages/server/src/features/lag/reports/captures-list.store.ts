import { lagOutcomes } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { oneOf, type Row, statement } from '../../../database/statement.ts'
import { lagCaptures } from '../../../database/tables/lag.ts'
import { without } from '../../../database/tables/table.ts'

const own = without(lagCaptures, 'boot_id', 'filters_json')
const row = {
  ...own,
  report_count: 'integer',
  latest_report_status: oneOf(...lagOutcomes, null),
  raw_kept: 'integer',
  raw_count: 'integer',
  raw_bytes: 'integer',
  raw_latest_unix_ms: 'time?',
} as const
export type ListedCapture = Row<typeof row>

/** A cell of what a capture has: of reports, or of recordings whose bytes are kept. */
const ofReports = 'FROM lag_reports r WHERE r.capture_id = c.capture_id'
const ofKept = 'FROM lag_artifacts a WHERE a.capture_id = c.capture_id AND a.available = 1'

const list = statement({
  name: 'lag-captures.list',
  text: `SELECT ${Object.keys(own)
    .map((name) => `c.${name}`)
    .join(', ')},
      (SELECT COUNT(*) ${ofReports}) AS report_count,
      (SELECT r.status ${ofReports} ORDER BY r.report_id DESC LIMIT 1) AS latest_report_status,
      (SELECT COUNT(*) ${ofKept} AND a.node_id = :own_node_id) AS raw_kept,
      (SELECT COUNT(*) ${ofKept}) AS raw_count,
      (SELECT CAST(COALESCE(SUM(a.compressed_bytes), 0) AS bigint) ${ofKept}) AS raw_bytes,
      (SELECT MAX(a.received_at_unix_ms) ${ofKept}) AS raw_latest_unix_ms
    FROM lag_captures c WHERE c.capture_id < :after ORDER BY c.capture_id DESC LIMIT :limit`,
  params: { after: 'text', limit: 'integer', own_node_id: 'text' },
  row,
})

const expired = statement({
  name: 'lag-captures.expired',
  text: `SELECT capture_id FROM lag_captures WHERE created_at_unix_ms <= :expired_unix_ms
      AND state IN ('sealed', 'expired')
      AND NOT EXISTS (SELECT 1 FROM lag_artifacts a WHERE a.capture_id = lag_captures.capture_id)
    ORDER BY created_at_unix_ms LIMIT :batch_items`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
  row: { capture_id: 'text' },
})

const remove = statement({
  name: 'lag-captures.remove',
  text: 'DELETE FROM lag_captures WHERE capture_id = :capture_id',
  params: { capture_id: 'text' },
})

const removeReports = statement({
  name: 'lag-captures.remove-reports',
  text: 'DELETE FROM lag_reports WHERE capture_id = :capture_id',
  params: { capture_id: 'text' },
})

/** Captures as operators list them, and their end; every function takes the transaction first. */
export const captureListStore = {
  /** The newest behind the cursor. */
  list: (tx: Queries, query: Row<(typeof list)['params']>) => tx.all(list, query),
  /** Removes captures whose time is over, with their reports; how many rows. */
  async prune(tx: Queries, bounds: Row<(typeof expired)['params']>): Promise<number> {
    const captures = await tx.all(expired, bounds)
    for (const { capture_id } of captures) {
      await tx.run(removeReports, { capture_id })
      await tx.run(remove, { capture_id })
    }
    return captures.length
  },
}
