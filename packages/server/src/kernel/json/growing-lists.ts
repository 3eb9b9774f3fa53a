import { joinedRows } from './json-pieces.ts'

/** What is known of a list that was made by `preceded` or `beginning`. */
type Growth = {
  /** The list that it was made of; let go of once there are bytes. */
  behind: readonly object[] | undefined
  /** How many rows it has in front of that one's. */
  readonly added: 0 | 1
  readonly line: Line
  /** How many lists stand before it in its line. */
  readonly at: number
  written: Written | undefined
}

/** Lists that grew from each other. */
type Line = { lastWritten: number }

type WriteRow = (row: unknown) => string

/** What stands between the brackets, where it lies, and who wrote it: others show other members. */
type Written = { by: WriteRow; room: Room; start: number; end: number; bytes: Buffer }

/** Bytes that are filled from their end, so that new rows come to stand in front of old ones. */
type Room = { readonly bytes: Buffer; start: number }

const growths = new WeakMap<readonly unknown[], Growth>()

/**
 * The list with one more row in front, of at most `lengthMax`. Whoever writes it as JSON takes what
 * was written of the shorter one and adds the first row, so that a list which stands in one answer
 * after the other costs what is new in it. Its rows are frozen: nothing of them changes any more.
 *
 * @example
 * ledger = preceded(ledger, entry, 100)
 */
export function preceded<T extends object>(list: readonly T[], first: T, lengthMax: number): T[] {
  return made([Object.freeze(first)], list, Math.min(list.length, lengthMax - 1))
}

/** The first rows of a list, as `length` many as there are, to be written as `preceded` is. */
export function beginning<T extends object>(list: readonly T[], length: number): T[] {
  return made([], list, Math.min(list.length, length))
}

function made<T extends object>(first: [] | [T], list: readonly T[], kept: number): T[] {
  const before = growths.get(list)
  if (before === undefined) for (const row of list) Object.freeze(row)
  const rows: T[] = [...first]
  // Neither `slice` nor a spread: both take four times as long where a list is frozen.
  for (let index = 0; index < kept; index += 1) rows.push(list[index] as T)
  Object.freeze(rows)
  const { line, at } = before ?? { line: { lastWritten: 0 }, at: 0 }
  const behind = at - line.lastWritten < unwrittenMax ? list : undefined
  growths.set(rows, { behind, added: first.length, line, at: at + 1, written: undefined })
  return rows
}

/** Lists in a line that nobody wrote yet: their bytes would have little in common with the next. */
const unwrittenMax = 100

/**
 * The rows of a list made by one of the two as JSON, with commas between them; undefined for
 * any other. `write` must write frozen rows alike. The bytes never change.
 */
export function writtenRows(list: readonly unknown[], write: WriteRow): Buffer | undefined {
  const growth = growths.get(list)
  if (growth === undefined) return undefined
  if (growth.written?.by === write) return growth.written.bytes
  const written = grown(list, write)
  growth.behind = undefined
  growth.written = written
  growth.line.lastWritten = Math.max(growth.line.lastWritten, growth.at)
  return written.bytes
}

/** Puts in front of the nearest list that was written what has come since. */
function grown(list: readonly unknown[], write: WriteRow): Written {
  let known = list
  let growth = growths.get(known)
  let added = 0
  while (growth?.behind !== undefined) {
    added += growth.added
    known = growth.behind
    growth = growths.get(known)
  }
  const kept = list.length - added
  if (growth?.written?.by !== write || kept <= 0) return inFront(undefined, list, write)
  const { room, start } = growth.written
  let { end } = growth.written
  for (let at = kept; at < known.length; at += 1) end -= 1 + Buffer.byteLength(write(known[at]))
  if (added === 0) return { by: write, room, start, end, bytes: room.bytes.subarray(start, end) }
  return inFront({ room, start, end }, list.slice(0, added), write)
}

function inFront(
  old: Pick<Written, 'room' | 'start' | 'end'> | undefined,
  rows: readonly unknown[],
  write: WriteRow,
): Written {
  const text = joinedRows(rows, write) + (old === undefined ? '' : ',')
  const textBytes = Buffer.byteLength(text)
  const isNewest = old !== undefined && old.room.start === old.start
  const { room, end } = isNewest && old.start >= textBytes ? old : moved(old, textBytes)
  room.start -= textBytes
  room.bytes.write(text, room.start)
  const { start } = room
  return { by: write, room, start, end, bytes: room.bytes.subarray(start, end) }
}

/** A new room, with what is old at its end, and as many bytes again for what will come. */
function moved(
  old: Pick<Written, 'room' | 'start' | 'end'> | undefined,
  textBytes: number,
): Pick<Written, 'room' | 'end'> {
  const oldBytes = old === undefined ? 0 : old.end - old.start
  const bytes = Buffer.allocUnsafeSlow(2 * (oldBytes + textBytes))
  const start = bytes.length - oldBytes
  old?.room.bytes.copy(bytes, start, old.start, old.end)
  return { room: { bytes, start }, end: bytes.length }
}
