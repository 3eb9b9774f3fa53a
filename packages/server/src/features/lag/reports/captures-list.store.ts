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

const filterParams = {
  after: 'text',
  limit: 'integer',
  own_node_id: 'text',
  match_id: 'text',
  label: 'text',
} as const

const filters = ['live', 'over', 'match_id', 'label'] as const
type Filter = (typeof filters)[number]

export type CaptureQuery = Pick<Row<typeof filterParams>, 'after' | 'limit' | 'own_node_id'> & {
  state?: 'live' | 'over' | undefined
  match_id?: string | undefined
  label?: string | undefined
}

/** What finds the captures: few are live, or have one match, or one label. */
function leaderOf(given: readonly Filter[]): Filter | undefined {
  return given.find((filter) => filter !== 'over')
}

/**
 * The leader is met by what stands together in its index. Neither database sees that this is one
 * value, which would let it look for it in all captures by their ids. `COALESCE` keeps others from
 * leading.
 */
function conditionOf(filter: Filter, leader: Filter | undefined): string {
  if (filter === 'live') return "c.state IN ('recording', 'minting', 'flushing')"
  if (filter === 'over') return "c.state IN ('sealed', 'expired')"
  if (filter !== leader) return `COALESCE(c.${filter}, '') = :${filter}`
  return `c.${filter} >= :${filter} AND (c.${filter}, c.capture_id) < (:${filter}, :after)`
}

function defineList(given: readonly Filter[]) {
  const leader = leaderOf(given)
  const conditions = given.map((filter) => conditionOf(filter, leader))
  const isByValue = leader === 'match_id' || leader === 'label'
  if (!isByValue) conditions.push('c.capture_id < :after')
  const order = isByValue ? `c.${leader} DESC, ` : ''
  const used = new Set<string>(['after', 'limit', 'own_node_id', ...given])
  const params = Object.fromEntries(Object.entries(filterParams).filter(([name]) => used.has(name)))
  return statement({
    name: `lag-captures.list${given.map((filter) => `.${filter}`).join('')}`,
    text: `SELECT ${Object.keys(own)
      .map((name) => `c.${name}`)
      .join(', ')},
        (SELECT COUNT(*) ${ofReports}) AS report_count,
        (SELECT r.status ${ofReports} ORDER BY r.report_id DESC LIMIT 1) AS latest_report_status,
        (SELECT COUNT(*) ${ofKept} AND a.node_id = :own_node_id) AS raw_kept,
        (SELECT COUNT(*) ${ofKept}) AS raw_count,
        (SELECT CAST(COALESCE(SUM(a.compressed_bytes), 0) AS bigint) ${ofKept}) AS raw_bytes,
        (SELECT MAX(a.received_at_unix_ms) ${ofKept}) AS raw_latest_unix_ms
      FROM lag_captures c WHERE ${conditions.join(' AND ')}
      ORDER BY ${order}c.capture_id DESC LIMIT :limit`,
    params: params as typeof filterParams,
    row,
  })
}

/** One prepared statement per combination of filters, so that each can use its index. */
const lists = new Map<string, ReturnType<typeof defineList>>()

function listOf({ state, match_id, label }: CaptureQuery): ReturnType<typeof defineList> {
  const given = filters.filter(
    (filter) =>
      filter === state ||
      (filter === 'match_id' && match_id !== undefined) ||
      (filter === 'label' && label !== undefined),
  )
  const known = lists.get(given.join()) ?? defineList(given)
  lists.set(given.join(), known)
  return known
}

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
  /** The newest behind the cursor that meet every filter. */
  list: (tx: Queries, query: CaptureQuery) =>
    tx.all(listOf(query), query as Row<typeof filterParams>),
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
