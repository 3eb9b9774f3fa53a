import type { Queries, Transaction } from '../../database/database.ts'
import { batchStatement, type Row, type Statement, statement } from '../../database/statement.ts'
import { auditUnsealed } from '../../database/tables/audit.ts'
import { without } from '../../database/tables/table.ts'

/** What an entry says, sealed or not; `chain/chain.store.ts` has the columns that seal it. */
export const entryColumns = without(auditUnsealed, 'number')
export type AuditRow = Row<typeof entryColumns>

const names = Object.keys(entryColumns)

/** Rows begin without an index on their ids, so one that is written again is there twice. */
const insert = batchStatement({
  name: 'audit.insert',
  text: `INSERT INTO audit_unsealed (${names.join(', ')}) {{given}}`,
  params: entryColumns,
})

/** Unsealed rows are those of the last second, unless the sealer is behind: there is no index. */
const listUnsealed = statement({
  name: 'audit.list-unsealed',
  text: `SELECT DISTINCT ${names.join(', ')} FROM audit_unsealed
    WHERE (:actor IS NULL OR actor = :actor)
      AND (:action IS NULL OR (action >= :action AND action < :action_end))
      AND (:match_id IS NULL OR match_id = :match_id)
      AND id < :after
    ORDER BY id DESC LIMIT :limit`,
  params: {
    actor: 'text?',
    action: 'text?',
    action_end: 'text',
    match_id: 'text?',
    after: 'text',
    limit: 'integer',
  },
  row: entryColumns,
  long: true,
})

const filterParams = {
  actor: 'text',
  action: 'text',
  action_end: 'text',
  match_id: 'text',
  after: 'text',
  limit: 'integer',
} as const

/** Each filter's condition. A prefix is a range, because text sorts by bytes on every backend. */
const conditions = {
  actor: 'actor = :actor',
  action: 'action >= :action AND action < :action_end',
  match_id: 'match_id = :match_id',
  after: 'id < :after',
} as const
type Filter = keyof typeof conditions
const filters: readonly Filter[] = ['actor', 'action', 'match_id', 'after']

/**
 * The actions with a prefix, each found by one step in the index: they are few, whatever the number
 * of their entries.
 */
const actionsFrom = statement({
  name: 'audit.actions-from',
  text: `WITH RECURSIVE found (action) AS (
      SELECT (SELECT MIN(e.action) FROM audit_entries e WHERE e.action >= :first)
      UNION ALL
      SELECT (SELECT MIN(e.action) FROM audit_entries e WHERE e.action > f.action)
      FROM found f WHERE f.action < :end
    ) SELECT action FROM found WHERE action < :end`,
  params: { first: 'text', end: 'text' },
  row: { action: 'text' },
})

/** Entries of one action stand in the index by their ids; those of several must be merged. */
const ofAction = statement({
  name: 'audit.of-action',
  text: `SELECT ${names.join(', ')} FROM audit_entries WHERE action = :action AND id < :after
    ORDER BY id DESC LIMIT :limit`,
  params: { action: 'text', after: 'text', limit: 'integer' },
  row: entryColumns,
})

export type AuditQuery = { limit: number } & { [F in Filter]?: string | undefined }

/** Queries about the durable trail; every function takes the transaction first. */
export const auditStore = {
  insert: (tx: Queries, rows: readonly AuditRow[]) => tx.each(insert, rows),
  insertAtCommit: (tx: Transaction, rows: readonly AuditRow[]) => tx.atCommit(insert, rows),
  /**
   * The newest rows that match. The sealer moves rows from one table into the other meanwhile:
   * looking where they come from first misses none, and one that is seen twice is shown once.
   */
  async list(tx: Queries, query: AuditQuery): Promise<AuditRow[]> {
    const { actor = null, action = null, match_id = null, after = last, limit } = query
    const values = { actor, action, action_end: endOf(action ?? ''), match_id, after, limit }
    const unsealed = await tx.all(listUnsealed, values)
    const sealed = await listSealed(tx, query)
    if (unsealed.length === 0) return sealed
    const byId = new Map([...sealed, ...unsealed].map((row) => [row.id, row]))
    return newestFirst([...byId.values()]).slice(0, limit)
  },
}

function listSealed(tx: Queries, query: AuditQuery): Promise<AuditRow[]> {
  const { actor, action, match_id } = query
  const isByAction = actor === undefined && match_id === undefined
  if (action !== undefined && isByAction) return listByAction(tx, { ...query, action })
  const given = filters.filter((filter) => query[filter] !== undefined)
  const values = { ...query, action_end: endOf(action) }
  return tx.all(listStatement(given), values as Row<typeof filterParams>)
}

function newestFirst(rows: AuditRow[]): AuditRow[] {
  return rows.sort((a, b) => (a.id < b.id ? 1 : -1))
}

/** The newest of the newest of each action. */
async function listByAction(
  tx: Queries,
  { action, after = last, limit }: AuditQuery & { action: string },
): Promise<AuditRow[]> {
  const actions = await tx.all(actionsFrom, { first: action, end: endOf(action) })
  const pages = await Promise.all(
    actions.map(({ action }) => tx.all(ofAction, { action, after, limit })),
  )
  return newestFirst(pages.flat()).slice(0, limit)
}

/** Behind every text with this prefix. */
function endOf(prefix = ''): string {
  return `${prefix}${last}`
}

/** Behind every id and every action. */
const last = '\u{10ffff}'

/** One prepared statement per combination of filters, so that each can use its index. */
const listStatements = new Map(
  Array.from({ length: 2 ** filters.length }, (_, mask) => {
    const given = filters.filter((_, bit) => (mask & (1 << bit)) !== 0)
    return [given.join('+'), defineList(given)]
  }),
)

function listStatement(given: readonly Filter[]) {
  const found = listStatements.get(given.join('+'))
  if (found === undefined) throw new Error('no such combination of audit filters')
  return found
}

function defineList(given: readonly Filter[]): Statement<typeof filterParams, typeof entryColumns> {
  const where = given.map((filter) => conditions[filter]).join(' AND ')
  const used = new Set<string>([
    'limit',
    ...given,
    ...(given.includes('action') ? ['action_end'] : []),
  ])
  const params = Object.fromEntries(Object.entries(filterParams).filter(([name]) => used.has(name)))
  return statement({
    name: `audit.list${given.map((filter) => `.${filter}`).join('')}`,
    text: `SELECT ${names.join(', ')} FROM audit_entries ${where === '' ? '' : `WHERE ${where}`}
      ORDER BY id DESC LIMIT :limit`,
    params: params as typeof filterParams,
    row: entryColumns,
    // No index has two of them, so what only few entries have in common is looked for in many.
    long: given.includes('action') || (given.includes('actor') && given.includes('match_id')),
  })
}
