import type { LogLevel } from '@guildhall/contract'
import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, type Statement, statement } from '../../database/statement.ts'
import { scriptLogs } from '../../database/tables/play-records.ts'
import { pick } from '../../database/tables/table.ts'
import { idSlackMs, timeOfId } from '../../kernel/ids.ts'

const { ahead: _, ...columns } = scriptLogs.columns
const names = Object.keys(columns)
export type LogRow = Row<typeof columns>

const written = Object.keys(scriptLogs.columns)
/** A line that is written again, because the commit was not heard of, stays one. */
const insert = batchStatement({
  name: 'script-logs.insert',
  text: `INSERT INTO script_logs (${written.join(', ')})
    SELECT ${written.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r WHERE true
    ON CONFLICT (log_id) DO NOTHING`,
  params: scriptLogs.columns,
})

const byId = statement({
  name: 'script-logs.by-id',
  text: `SELECT ${names.join(', ')} FROM script_logs WHERE log_id = :log_id`,
  params: pick(scriptLogs, 'log_id'),
  row: columns,
})

const count = statement({
  name: 'script-logs.count',
  text: 'SELECT COUNT(*) AS lines FROM script_logs WHERE match_id = :match_id',
  params: { match_id: 'text' },
  row: { lines: 'integer' },
  long: true,
})

const prune = statement({
  name: 'script-logs.prune',
  text: `DELETE FROM script_logs WHERE log_id IN (
      SELECT log_id FROM script_logs WHERE created_at_unix_ms <= :expired_unix_ms
      ORDER BY created_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Each filter's condition. A prefix is a range, because text sorts by bytes on every backend. */
const conditions = {
  match_id: 'match_id = :match_id',
  level: 'level = :level',
  tag: 'tag >= :tag AND tag < :tag_end',
} as const
type Filter = keyof typeof conditions
const filters: readonly Filter[] = ['match_id', 'level', 'tag']

const listParams = {
  match_id: 'text',
  level: 'text',
  tag: 'text',
  tag_end: 'text',
  after: 'text',
  limit: 'integer',
} as const

export type LogQuery = {
  match_id?: string | undefined
  level?: LogLevel | undefined
  tag?: string | undefined
  after?: string | undefined
  limit: number
}

/** One statement per combination of filters, so that each can use its index. */
const lists = Array.from({ length: 2 ** filters.length }, (_, mask) =>
  defineList(filters.filter((_, bit) => (mask & (1 << bit)) !== 0)),
)

function defineList(given: readonly Filter[]): Statement<typeof listParams, typeof columns> {
  const used = new Set<string>(['after', 'limit', ...given])
  if (given.includes('tag')) used.add('tag_end')
  const params = Object.fromEntries(Object.entries(listParams).filter(([name]) => used.has(name)))
  const where = ['log_id < :after', ...given.map((filter) => conditions[filter])]
  return statement({
    name: `script-logs.list${given.map((filter) => `.${filter}`).join('')}`,
    text: `SELECT ${names.join(', ')} FROM script_logs WHERE ${where.join(' AND ')}
      ORDER BY log_id DESC LIMIT :limit`,
    params: params as typeof listParams,
    row: columns,
    // No index has the order of tags and of ids, so what few lines have is looked for in many.
    long: given.includes('tag'),
  })
}

/** Behind every id and every tag. */
const last = '\u{10ffff}'

/** Ids of a boot grow, also when the clock was set back. */
function isAhead({ log_id, created_at_unix_ms }: LogRow): boolean {
  return timeOfId('ml1-', log_id) >= created_at_unix_ms + idSlackMs
}

/** Queries about lines of scripts; every function takes the transaction first. */
export const scriptLogsStore = {
  insert: (tx: Queries, rows: readonly LogRow[]) =>
    tx.each(
      insert,
      rows.map((row) => ({ ...row, ahead: isAhead(row) })),
    ),
  byId: (tx: Queries, log_id: string) => tx.get(byId, { log_id }),
  count: async (tx: Queries, match_id: string) => (await tx.get(count, { match_id }))?.lines ?? 0,
  /** The newest lines that match, behind the cursor. */
  async list(tx: Queries, query: LogQuery): Promise<LogRow[]> {
    const given = filters.filter((filter) => query[filter] !== undefined)
    const mask = given.reduce((sum, filter) => sum + 2 ** filters.indexOf(filter), 0)
    const list = lists[mask]
    if (list === undefined) throw new Error('no such combination of filters')
    const { after = last, tag = '' } = query
    const values = { ...query, after, tag_end: `${tag}${last}` }
    return tx.all(list, values as Row<typeof listParams>)
  },
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
