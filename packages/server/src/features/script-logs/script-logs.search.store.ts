import { type LogLevel, linesLookedThrough, logLevels } from '@guildhall/contract'
import type { Queries } from '../../database/database.ts'
import { oneOf, type Row, statement } from '../../database/statement.ts'
import { scriptLogs } from '../../database/tables/play-records.ts'
import { idsOfTime } from '../../kernel/ids.ts'

const { payload_json: _, ahead: __, ...lineColumns } = scriptLogs.columns
const line = { ...lineColumns, has_payload: 'flag' } as const
const names = Object.keys(lineColumns).join(', ')

const params = {
  match_id: 'text?',
  level: oneOf(...logLevels, null),
  tag: 'text',
  tag_end: 'text',
  text: 'text',
  from: 'time',
  to: 'time',
  first: 'text',
  after: 'text',
  limit: 'integer',
} as const

/** What the rows of an index have alike; the order of ids is that of time. */
const indexes = {
  all: undefined,
  match_id: 'match_id = :match_id',
  level: 'level = :level',
  ahead: 'ahead = 1',
} as const
type Index = keyof typeof indexes

const inOrder = { long: true, inOrder: true } as const

/**
 * The lines of an index behind a place are looked through one by one, so many at most. What they
 * must have is asked around them: then no planner goes on beyond them for the sake of it. Where the
 * time begins as well: with both ends, and statistics of before the newest lines, PostgreSQL takes
 * what is between for little, and sorts all of it first.
 */
function defineSearch(index: Index) {
  const alike = indexes[index]
  const wanted = (text: Readonly<Record<string, unknown>>, used: readonly string[]) =>
    Object.fromEntries(Object.entries(text).filter(([name]) => used.includes(name)))
  const range = ['log_id < :after', ...(alike ? [alike] : [])]
  const looked = (columns: string) => `(SELECT ${columns} FROM script_logs
    WHERE ${range.join(' AND ')} ORDER BY log_id DESC LIMIT ${linesLookedThrough}) AS looked`
  const ranged = ['after', 'first', index]
  const asked = ['tag', 'tag_end', 'text', 'from', 'to', 'level', 'match_id', 'limit']
  return {
    lines: statement({
      name: `script-logs.search.${index}`,
      text: `SELECT ${names}, has_payload FROM ${looked(
        `${names}, CASE WHEN payload_json IS NULL THEN 0 ELSE 1 END AS has_payload`,
      )} WHERE log_id >= :first AND created_at_unix_ms >= :from AND created_at_unix_ms <= :to
        AND tag >= :tag AND tag < :tag_end AND {{contains message :text}}
        AND (:level IS NULL OR level = :level)
        AND (:match_id IS NULL OR match_id = :match_id)
        ORDER BY log_id DESC LIMIT :limit`,
      params: wanted(params, [...ranged, ...asked]) as typeof params,
      row: line,
      ...inOrder,
    }),
    extent: statement({
      name: `script-logs.search-extent.${index}`,
      text: `SELECT COUNT(*) AS looked_through, MIN(log_id) AS oldest FROM ${looked('log_id')}
        WHERE log_id >= :first`,
      params: wanted(params, ranged) as typeof params,
      row: { looked_through: 'integer', oldest: 'text?' },
      ...inOrder,
    }),
  }
}

const searches = {
  all: defineSearch('all'),
  match_id: defineSearch('match_id'),
  level: defineSearch('level'),
  ahead: defineSearch('ahead'),
}

export type LogSearch = {
  match_id?: string | undefined
  level?: LogLevel | undefined
  tag?: string | undefined
  text?: string | undefined
  from?: number | undefined
  to?: number | undefined
  after?: string | undefined
  limit: number
}

/** Behind every id and every tag. */
const last = '\u{10ffff}'
/** The lines that match among those looked through, and how far that went. */
export async function searchLines(tx: Queries, query: LogSearch) {
  const { match_id = null, level = null, tag = '', text = '', after = last, limit } = query
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = query
  const ids = idsOfTime('ml1-', from, to)
  const end = query.to === undefined ? last : ids.end
  const wanted = { match_id, level, tag, tag_end: `${tag}${last}`, text, from, to }
  const mayBeAhead = after > end
  const ahead = mayBeAhead
    ? await look(tx, 'ahead', { ...wanted, first: end, after, limit })
    : { found: [], oldest: null }
  if (ahead.found.length === limit || ahead.oldest !== null) return ahead
  const { found, oldest } = await look(tx, indexOf(query), {
    ...wanted,
    first: ids.first,
    after: mayBeAhead ? end : after,
    limit: limit - ahead.found.length,
  })
  return { found: [...ahead.found, ...found], oldest }
}

async function look(tx: Queries, index: Index, values: Row<typeof params>) {
  const { lines, extent } = searches[index]
  const [found, reached] = await Promise.all([tx.all(lines, values), tx.get(extent, values)])
  const { looked_through = 0, oldest = null } = reached ?? {}
  return { found, oldest: looked_through < linesLookedThrough ? null : oldest }
}

function indexOf({ match_id, level }: LogSearch): Index {
  if (match_id !== undefined) return 'match_id'
  return level === undefined ? 'all' : 'level'
}
