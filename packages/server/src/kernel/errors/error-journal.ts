import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Log, LogFields } from '../log/log.ts'
import {
  type JournalBounds,
  type JournalFile,
  type JournalLine,
  openJournalFile,
  renderJournalLine,
} from './error-journal-file.ts'
import { placeOf } from './error-place.ts'

/**
 * What went wrong on this node, for its operators: every 500, every crash of a task or worker and
 * every uncaught error, by the place in the code and without a word of what a caller sent.
 */
export type ErrorJournal = {
  /**
   * Notes the incident and writes the log line that holds its cause and stack. Returns the
   * fingerprint by which the two find each other. Never throws.
   */
  record(incident: Incident): string
  /** Incidents grouped by fingerprint, the one seen last first. */
  page(request: { offset: number; limit: number }): ErrorPage
  /** False while the file that should hold the journal cannot be written. */
  writable(): boolean
  /** Writes what is not yet in the file. */
  close(): Promise<void>
}

export type Incident = {
  category: IncidentCategory
  /** The part of the node that noticed, e.g. `http` or a task's name; never text from outside. */
  component: string
  error?: unknown
  /** Stands for the place in the code where there is no stack to read it from. */
  place?: string
  request_id?: string | undefined
  /** More for the log line, such as the route. The journal does not hold it. */
  fields?: LogFields
}

/** The closed list of what can be in the journal. A `panic` is an error that nothing caught. */
export const incidentTable = {
  database: { kind: 'error', message: 'database operation failed' },
  request: { kind: 'error', message: 'request failed' },
  task: { kind: 'error', message: 'background task failed' },
  task_ended: { kind: 'error', message: 'background task ended without being asked' },
  task_stalled: { kind: 'error', message: 'background task made no progress' },
  worker: { kind: 'error', message: 'the script worker failed' },
  script: { kind: 'error', message: 'a script was rejected' },
  transport: { kind: 'error', message: 'a transport failed' },
  uncaught_exception: { kind: 'panic', message: 'uncaught exception' },
  unhandled_rejection: { kind: 'panic', message: 'unhandled promise rejection' },
} as const satisfies Record<string, { kind: 'error' | 'panic'; message: string }>

export type IncidentCategory = keyof typeof incidentTable

export type ErrorPage = {
  entries: ErrorEntry[]
  /** How many fingerprints there are. */
  total: number
  next_offset: number | null
}

export type ErrorEntry = {
  fingerprint: string
  kind: string
  category: string
  component: string
  message: string
  first_seen_ms: number
  last_seen_ms: number
  count: number
}

type JournalDeps = {
  clock: Clock
  log: Log
  bounds: JournalBounds
}

/** Equal fingerprints within this time share a line, so that a storm of errors stays small. */
const shareMs = 1000

/** Opens the journal of `guildhall-errors.jsonl` in a folder; without one it is in memory only. */
export async function openErrorJournal({
  directory,
  ...deps
}: JournalDeps & { directory: string | undefined }): Promise<ErrorJournal> {
  const file = directory ? await openJournalFile({ directory, ...deps }) : undefined
  return createErrorJournal(deps, file)
}

/** Makes a journal that begins with what its file holds; without a file it is in memory only. */
export function createErrorJournal(
  { clock, log, bounds }: JournalDeps,
  file?: JournalFile,
): ErrorJournal {
  const lines = boundedLines(bounds)
  for (const line of file?.found ?? []) lines.add(line)
  const open = new Map<string, JournalLine>()

  function settle(line: JournalLine): void {
    if (open.get(line.fingerprint) !== line) return
    open.delete(line.fingerprint)
    file?.append(line, lines.all().filter(isSettled))
  }

  function isSettled(line: JournalLine): boolean {
    return open.get(line.fingerprint) !== line
  }

  function note(incident: Incident, fingerprint: string): void {
    const shared = open.get(fingerprint)
    if (shared) {
      shared.count += 1
      return
    }
    const line = newLine(incident, fingerprint, clock.nowUnixMs())
    lines.add(line)
    open.set(fingerprint, line)
    // After a panic the process ends: the line must be on its way before that.
    if (line.kind === 'panic') settle(line)
    else clock.after(shareMs, () => settle(line))
  }

  return {
    record(incident) {
      const fingerprint = fingerprintOf(incident)
      const { component, request_id, error, fields } = incident
      const { message } = incidentTable[incident.category]
      log.component(component).error(message, { request_id, ...fields, fingerprint, error })
      note(incident, fingerprint)
      return fingerprint
    },
    page: (request) => pageOf(lines.all(), request),
    writable: () => file?.writable() ?? true,
    async close() {
      for (const line of [...open.values()]) settle(line)
      await file?.close()
    },
  }
}

function newLine(incident: Incident, fingerprint: string, timestamp_ms: number): JournalLine {
  const { category, component, request_id } = incident
  const { kind, message } = incidentTable[category]
  const line = { timestamp_ms, kind, category, component, message, fingerprint, count: 1 }
  return { version: 1, ...line, ...(request_id !== undefined && { request_id }) }
}

function fingerprintOf({ category, component, error, place }: Incident): string {
  const { kind } = incidentTable[category]
  const parts = [kind, category, component, place ?? placeOf(error)]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}

/** The newest lines, within the bounds that the file has too. */
function boundedLines({ max_bytes, max_entries }: JournalBounds) {
  const lines: JournalLine[] = []
  let bytes = 0
  return {
    all: (): readonly JournalLine[] => lines,
    add(line: JournalLine) {
      lines.push(line)
      bytes += sizeOf(line)
      while (lines.length > max_entries || bytes > max_bytes) {
        const oldest = lines.shift()
        if (!oldest) break
        bytes -= sizeOf(oldest)
      }
    },
  }
}

/** Without the count, which may still grow, so that a line weighs the same when it goes. */
function sizeOf(line: JournalLine): number {
  return Buffer.byteLength(renderJournalLine({ ...line, count: 1 }))
}

function pageOf(lines: readonly JournalLine[], request: { offset: number; limit: number }) {
  const groups = new Map<string, ErrorEntry>()
  for (const line of lines) {
    const group = groups.get(line.fingerprint)
    if (group) {
      group.first_seen_ms = Math.min(group.first_seen_ms, line.timestamp_ms)
      group.last_seen_ms = Math.max(group.last_seen_ms, line.timestamp_ms)
      group.count += line.count
    } else groups.set(line.fingerprint, firstOf(line))
  }
  const sorted = [...groups.values()].sort(lastSeenFirst)
  const end = request.offset + request.limit
  return {
    entries: sorted.slice(request.offset, end),
    total: sorted.length,
    next_offset: end < sorted.length ? end : null,
  }
}

function firstOf({ timestamp_ms, ...line }: JournalLine): ErrorEntry {
  const { fingerprint, kind, category, component, message, count } = line
  const seen = { first_seen_ms: timestamp_ms, last_seen_ms: timestamp_ms }
  return { fingerprint, kind, category, component, message, ...seen, count }
}

function lastSeenFirst(a: ErrorEntry, b: ErrorEntry): number {
  return b.last_seen_ms - a.last_seen_ms || (a.fingerprint < b.fingerprint ? -1 : 1)
}
