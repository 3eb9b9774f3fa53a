import { type LogLevel, linesLookedThrough, logLevels } from '@guildhall/contract'
import type { Queries } from '../../database/database.ts'
import { oneOf, statement } from '../../database/statement.ts'
import { scriptLogs } from '../../database/tables/play-records.ts'

const { payload_json: _, ...lineColumns } = scriptLogs.columns
const line = { ...lineColumns, has_payload: 'flag' } as const
const names = Object.keys(lineColumns).join(', ')

const params = {
  match_id: 'text',
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

/** What an index begins with; the order of ids is that of time. */
const indexes = { all: undefined, match_id: 'match_id', level: 'level' } as const
type Index = keyof typeof indexes

const inOrder = { long: true, inOrder: true } as const

/**
 * The lines of an index behind a place are looked through one by one, so many at most. What they
 * must have is asked around them: then no planner goes on beyond them for the sake of it. Where the
 * time begins as well: with both ends, and statistics of before the newest lines, PostgreSQL takes
 * what is between for little, and sorts all of it first.
 */
function defineSearch(index: Index) {
  const column = indexes[index]
  const wanted = (text: Readonly<Record<string, unknown>>, used: readonly string[]) =>
    Object.fromEntries(Object.entries(text).filter(([name]) => used.includes(name)))
  const range = ['log_id < :after', ...(column ? [`${column} = :${column}`] : [])]
  const looked = (columns: string) => `(SELECT ${columns} FROM script_logs
    WHERE ${range.join(' AND ')} ORDER BY log_id DESC LIMIT ${linesLookedThrough}) AS looked`
  const ranged = ['after', 'first', ...(column ? [column] : [])]
  const asked = ['tag', 'tag_end', 'text', 'from', 'to', 'level', 'limit']
  return {
    lines: statement({
      name: `script-logs.search.${index}`,
      text: `SELECT ${names}, has_payload FROM ${looked(
        `${names}, CASE WHEN payload_json IS NULL THEN 0 ELSE 1 END AS has_payload`,
      )} WHERE log_id >= :first AND created_at_unix_ms >= :from AND created_at_unix_ms <= :to
        AND tag >= :tag AND tag < :tag_end AND {{contains message :text}}
        AND (:level IS NULL OR level = :level)
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
/** So far may the time in the id of a line be from that of the line itself, in milliseconds. */
const slackMs = 60_000

/** The lines that match among those looked through, and how far that went. */
export async function searchLines(tx: Queries, query: LogSearch) {
  const { match_id = '', level = null, tag = '', text = '', limit } = query
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = query
  const { lines, extent } = searches[indexOf(query)]
  const end = query.to === undefined ? last : idAt(to + slackMs)
  const after = query.after !== undefined && query.after < end ? query.after : end
  const first = idAt(Math.max(0, from - slackMs))
  const tag_end = `${tag}${last}`
  const values = { match_id, level, tag, tag_end, text, from, to, first, after, limit }
  const [found, reached] = await Promise.all([tx.all(lines, values), tx.get(extent, values)])
  const { looked_through = 0, oldest = null } = reached ?? {}
  return { found, oldest: looked_through < linesLookedThrough ? null : oldest }
}

function indexOf({ match_id, level }: LogSearch): Index {
  if (match_id !== undefined) return 'match_id'
  return level === undefined ? 'all' : 'level'
}

/** What the ids of a moment begin with. */
function idAt(unixMs: number): string {
  return `ml1-${Math.min(unixMs, 16 ** 13 - 1)
    .toString(16)
    .padStart(13, '0')}`
}

/** When a line with this id was written, in Unix milliseconds. */
export function timeOfId(logId: string): number {
  return Number.parseInt(logId.slice(4, 17), 16)
}
