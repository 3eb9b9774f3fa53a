import { type CsvCell, csvLine } from '../../../model/csv.ts'
import { jsonText } from '../../../model/json.ts'
import { exactTime } from '../../../model/time.ts'
import type { Page } from '../../data/pages.ts'
import type { Listing } from '../../data/reads.ts'

export type Format = 'jsonl' | 'csv'

/** A list that can be written into a file, however long it is. */
export type Exported<Row> = {
  /** The file, without its ending. */
  file: string
  /** What a row is, and what rows are: `entry`, `entries`. */
  noun: readonly [one: string, many: string]
  /** What is written, as a sentence. */
  words: string
  /** The members of a row that are columns, in their order. */
  columns: readonly (keyof Row & string)[]
  read(cursor: unknown): Promise<Page<Row, unknown>>
  /** What distinguishes rows, in lists whose pages move while they are read: each stands once. */
  keyOf?(row: Row): string
  /** How far a page has come, e.g. `back to 2026-01-01`. */
  reached?(last: Row): string
}

/** All that a list shows, as it is filtered. */
export function exportOf<Row>(
  listing: Listing<Row>,
  { noun, ...rest }: Omit<Exported<Row>, 'read' | 'words'>,
): Exported<Row> {
  const words = `All ${noun[1]} that the list shows, in its order.`
  return { ...rest, noun, words, read: listing.readPage }
}

/** How far an export has come; `cursor` is where it goes on. */
export type Progress = {
  count: number
  /** Rows that came once more, because the list moved while it was read. */
  repeated: number
  reached: string
  cursor: unknown
  isWhole: boolean
  /** What has come, of lists that have `keyOf`. */
  seen?: Set<string>
}

export const nothingYet: Progress = {
  count: 0,
  repeated: 0,
  reached: '',
  cursor: undefined,
  isWhole: false,
}

/** What people are called by their ids. */
export type NamesOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>

type RunOptions<Row> = {
  exported: Exported<Row>
  format: Format
  namesOf: NamesOf
  /** Where an earlier run was stopped. */
  from: Progress
  signal: AbortSignal
  /** Takes the text of each page; what it holds is counted by `progress`. */
  onPage(text: string, progress: Progress): void
}

/**
 * Reads a list page by page until its end, a failure or the signal. A failure is thrown; what
 * `onPage` took before stays good.
 */
export async function runExport<Row extends object>(options: RunOptions<Row>): Promise<void> {
  const { exported, format, from, signal, onPage } = options
  const { keyOf } = exported
  const seen = from.seen ?? new Set<string>()
  const columns = columnsOf(exported.columns)
  let progress = from
  // With the first page: what failed before it is begun anew.
  let head = from === nothingYet && format === 'csv' ? csvLine(columns) : ''
  while (!progress.isWhole && !signal.aborted) {
    const page = await exported.read(progress.cursor)
    const { next } = page
    const items = page.items.filter(
      (row) => keyOf === undefined || seen.size < seen.add(keyOf(row)).size,
    )
    const last = page.items.at(-1)
    progress = {
      seen,
      count: progress.count + items.length,
      repeated: progress.repeated + page.items.length - items.length,
      reached: last === undefined ? progress.reached : (exported.reached?.(last) ?? ''),
      cursor: next,
      isWhole: next === undefined,
    }
    const lines = format === 'csv' ? await csvOf(items, columns, options.namesOf) : jsonOf(items)
    onPage(head + lines, progress)
    head = ''
  }
}

function jsonOf(rows: readonly object[]): string {
  return rows.map((row) => `${jsonText(row)}\n`).join('')
}

const timeEnd = '_unix_ms'

/** Times stand as people read them too, and users by name. */
function columnsOf(members: readonly string[]): string[] {
  return members.flatMap((member) => {
    if (member.endsWith(timeEnd)) return [member.slice(0, -timeEnd.length), member]
    return member === 'user_id' ? ['username', member] : [member]
  })
}

async function csvOf(
  rows: readonly object[],
  columns: readonly string[],
  namesOf: NamesOf,
): Promise<string> {
  const records = rows.map((row): Readonly<Record<string, unknown>> => ({ ...row }))
  const ids = records.map(({ user_id }) => user_id).filter((id) => typeof id === 'string')
  const names = columns.includes('username') && ids.length > 0 ? await namesOf(ids) : new Map()
  return records.map((row) => csvLine(columns.map((column) => cellOf(row, column, names)))).join('')
}

function cellOf(
  row: Readonly<Record<string, unknown>>,
  column: string,
  names: ReadonlyMap<unknown, string>,
): CsvCell {
  if (Object.hasOwn(row, column)) return textOf(row[column])
  if (column === 'username') return names.get(row.user_id)
  const time = row[column + timeEnd]
  return typeof time === 'number' ? exactTime(time) : undefined
}

function textOf(value: unknown): CsvCell {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') {
    return value
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  return jsonText(value)
}
