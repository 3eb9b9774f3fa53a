import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Log } from '../log/log.ts'
import { reasonOf } from './reason.ts'

/** One line of the file: an incident, or several of one fingerprint within a second. */
export type JournalLine = {
  version: 1
  timestamp_ms: number
  kind: string
  category: string
  component: string
  message: string
  fingerprint: string
  count: number
  request_id?: string
}

/** How much the journal holds; the oldest lines go first. */
export type JournalBounds = { max_bytes: number; max_entries: number }

export type JournalFile = {
  /** The lines that an earlier run left, oldest first. */
  readonly found: readonly JournalLine[]
  /** Adds `line`; `all` is what the file should hold with it, for when it must be made anew. */
  append(line: JournalLine, all: readonly JournalLine[]): void
  writable(): boolean
  close(): Promise<void>
}

type FileDeps = { directory: string; bounds: JournalBounds; clock: Clock; log: Log }

/** The newest part of the bounds that is kept when they are reached, so that this is seldom. */
const keptShare = 7 / 8
const retryMs = 5000

/**
 * Opens the journal in `directory`. What cannot be read counts as empty, and what cannot be
 * written is tried again now and then: the journal never fails anything else.
 */
export async function openJournalFile(deps: FileDeps): Promise<JournalFile> {
  const { directory, bounds, clock, log } = deps
  const path = join(directory, 'guildhall-errors.jsonl')
  const before = await readTail(path, bounds)
  let { bytes, entries } = before
  let waiting = ''
  let wanted: readonly JournalLine[] = before.lines
  let whole = before.whole
  let failed = false
  let closed = false
  let running: Promise<void> | undefined

  function start(): void {
    running ??= work().finally(() => {
      running = undefined
      if (waiting && !failed) start()
    })
  }

  /** Writes until nothing waits; only one of these runs at a time. */
  async function work(): Promise<void> {
    try {
      while (waiting || !whole) {
        const text = waiting
        waiting = ''
        await write(text)
      }
      if (failed) log.info('the error journal can be written again')
      failed = false
    } catch (error) {
      if (!failed) log.warn('the error journal cannot be written', { reason: reasonOf(error) })
      failed = true
      // It is unknown how much arrived: the next attempt makes the file anew.
      whole = false
      if (!closed) clock.after(retryMs, start)
    }
  }

  async function write(text: string): Promise<void> {
    const addedBytes = Buffer.byteLength(text)
    const addedEntries = text.split('\n').length - 1
    const fits =
      bytes + addedBytes <= bounds.max_bytes && entries + addedEntries <= bounds.max_entries
    if (whole && fits) {
      await appendTo(path, text)
      bytes += addedBytes
      entries += addedEntries
      return
    }
    const kept = newest(wanted, bounds)
    await replace(path, kept.join(''))
    whole = true
    bytes = kept.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
    entries = kept.length
  }

  // Finds out at once, and not at the first incident, whether the file can be written.
  await appendTo(path, before.torn ? '\n' : '').catch(() => {
    whole = false
  })
  if (!whole) start()
  await running

  return {
    found: before.lines,
    append(line, all) {
      waiting += renderJournalLine(line)
      wanted = all
      if (!failed) start()
    },
    writable: () => !failed,
    async close() {
      closed = true
      start()
      while (running) await running
    },
  }
}

export function renderJournalLine(line: JournalLine): string {
  return `${JSON.stringify(line)}\n`
}

/** The newest lines that take up no more than the kept share of the bounds; always one. */
function newest(lines: readonly JournalLine[], bounds: JournalBounds): string[] {
  const kept: string[] = []
  let bytes = 0
  for (const line of lines.slice(-Math.ceil(bounds.max_entries * keptShare)).reverse()) {
    const text = renderJournalLine(line)
    bytes += Buffer.byteLength(text)
    if (kept.length > 0 && bytes > bounds.max_bytes * keptShare) break
    kept.push(text)
  }
  return kept.reverse()
}

async function appendTo(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    await file.appendFile(text)
  } finally {
    await file.close()
  }
}

/** Nobody ever finds a half-written file under the journal's name. */
async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.next`
  try {
    const file = await open(next, 'w', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(next, path)
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined)
    throw error
  }
}

type Tail = {
  lines: JournalLine[]
  bytes: number
  entries: number
  /** The last line has no end: a crash cut it off. */
  torn: boolean
  /** False when the file is over a bound, so that it must be made anew. */
  whole: boolean
}

async function readTail(path: string, bounds: JournalBounds): Promise<Tail> {
  const text = await readEnd(path, bounds.max_bytes).catch(() => undefined)
  if (!text) return { lines: [], bytes: 0, entries: 0, torn: false, whole: true }
  const parts = text.tail.split('\n')
  const torn = parts.at(-1) !== ''
  const lines = parts.map(parseLine).filter((line) => line !== undefined)
  const entries = parts.length - (torn ? 0 : 1)
  const whole = text.bytes <= bounds.max_bytes && entries <= bounds.max_entries
  return { lines: lines.slice(-bounds.max_entries), bytes: text.bytes, entries, torn, whole }
}

async function readEnd(path: string, bytesMax: number): Promise<{ tail: string; bytes: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, bytesMax))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
    return { tail: buffer.toString('utf8', 0, bytesRead), bytes: size }
  } finally {
    await file.close()
  }
}

/** What this version did not write is passed over. */
function parseLine(text: string): JournalLine | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJournalLine(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isJournalLine(value: unknown): value is JournalLine {
  if (typeof value !== 'object' || value === null) return false
  const line: Partial<Record<string, unknown>> = { ...value }
  const { version, kind, timestamp_ms, count, request_id } = line
  const { category, component, message, fingerprint } = line
  const texts = [category, component, message, fingerprint]
  return (
    version === 1 &&
    (kind === 'error' || kind === 'panic') &&
    texts.every((text) => typeof text === 'string') &&
    Number.isSafeInteger(timestamp_ms) &&
    Number.isSafeInteger(count) &&
    (request_id === undefined || typeof request_id === 'string')
  )
}
