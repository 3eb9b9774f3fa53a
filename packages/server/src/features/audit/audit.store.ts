import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, type Statement, statement } from '../../database/statement.ts'

/** What an entry says; `audit.chain.store.ts` has the columns that seal it. */
export const entryColumns = {
  id: 'text',
  node_id: 'text',
  time_unix_ms: 'integer',
  actor_type: 'text',
  actor: 'text',
  role: 'text',
  credential_id: 'text?',
  key_name: 'text?',
  key_scopes: 'text?',
  action: 'text',
  target: 'text',
  details: 'text',
  match_id: 'text?',
} as const
export type AuditRow = Row<typeof entryColumns>

const names = Object.keys(entryColumns)

/** A repeat of a row that is there already changes nothing, so that a batch may be tried again. */
const insert = batchStatement({
  name: 'audit.insert',
  text: `INSERT INTO audit_entries (${names.join(', ')})
    SELECT ${names.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r
    WHERE true
    ON CONFLICT (id) DO NOTHING`,
  params: entryColumns,
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
  async insert(tx: Queries, rows: readonly AuditRow[]): Promise<void> {
    await tx.each(insert, rows)
  },
  list(tx: Queries, query: AuditQuery): Promise<AuditRow[]> {
    const { actor, action, match_id } = query
    const isByAction = actor === undefined && match_id === undefined
    if (action !== undefined && isByAction) return listByAction(tx, { ...query, action })
    const given = filters.filter((filter) => query[filter] !== undefined)
    const values = { ...query, action_end: endOf(action) }
    return tx.all(listStatement(given), values as Row<typeof filterParams>)
  },
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
  const rows = pages.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
  return rows.slice(0, limit)
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
    scan: given.includes('action') || (given.includes('actor') && given.includes('match_id')),
  })
}
