import type { AuditEntry } from '@guildhall/contract'
import { type CsvCell, csvLine } from '../../../model/csv.ts'
import { jsonText } from '../../../model/json.ts'
import { exactTime } from '../../../model/time.ts'
import { call } from '../../data/console-client.ts'

export type Format = 'jsonl' | 'csv'
export type AuditFilter = { actor?: string; action?: string; match_id?: string }

/** How far an export has come; `after` is where it goes on, and undefined at its end. */
export type Progress = {
  count: number
  oldestUnixMs: number | undefined
  after: string | undefined
  isWhole: boolean
}

export const nothingYet: Progress = {
  count: 0,
  oldestUnixMs: undefined,
  after: undefined,
  isWhole: false,
}

type RunOptions = {
  filter: AuditFilter
  format: Format
  /** Where an earlier run was stopped. */
  from: Progress
  signal: AbortSignal
  /** Takes the text of each page; what it holds is counted by `progress`. */
  onPage(text: string, progress: Progress): void
}

/** Entries of one request: the most that the route gives. */
const pageSize = 500

/**
 * Reads the trail page by page from the newest entry to the oldest, until its end, a failure or
 * the signal. A failure is thrown; what `onPage` took before stays good.
 */
export async function runExport({ filter, format, from, signal, onPage }: RunOptions) {
  const write = format === 'csv' ? csvOf : jsonOf
  let progress = from
  if (from.count === 0 && format === 'csv') onPage(csvLine(csvColumns.map(([name]) => name)), from)
  while (!progress.isWhole && !signal.aborted) {
    const { after } = progress
    const query = { ...filter, after, limit: pageSize }
    const page = await call((client) => client.audit.list({ query }))
    progress = {
      count: progress.count + page.entries.length,
      oldestUnixMs: page.entries.at(-1)?.time_unix_ms ?? progress.oldestUnixMs,
      after: page.next_after,
      isWhole: page.next_after === undefined,
    }
    onPage(page.entries.map(write).join(''), progress)
  }
}

function jsonOf(entry: AuditEntry): string {
  return `${jsonText(entry)}\n`
}

const csvColumns: readonly [name: string, cell: (entry: AuditEntry) => CsvCell][] = [
  ['time', ({ time_unix_ms }) => exactTime(time_unix_ms)],
  ['time_unix_ms', ({ time_unix_ms }) => time_unix_ms],
  ['actor_type', ({ actor_type }) => actor_type],
  ['actor', ({ actor }) => actor],
  ['role', ({ role }) => role],
  ['action', ({ action }) => action],
  ['target', ({ target }) => target],
  ['details', ({ details }) => details],
  ['match_id', ({ match_id }) => match_id],
  ['credential_id', ({ credential_id }) => credential_id],
  ['key_name', ({ key_name }) => key_name],
  ['scopes', ({ scopes }) => scopes],
]

function csvOf(entry: AuditEntry): string {
  return csvLine(csvColumns.map(([, cell]) => cell(entry)))
}
