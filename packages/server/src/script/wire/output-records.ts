import type { ScriptFunctionName } from '@guildhall/contract'
import { commandNames } from '../functions/arguments.ts'

/**
 * How commands and outcomes travel from the worker: records of 64-bit floats in the order in which
 * they take effect, at the end of a buffer that begins with the bodies. A record is its operation,
 * its fields, and for the delivering ones a list of participants.
 *
 *   done       op, id, status, cpu_us, body offset, body length, text index or -1; an offset below
 *              0 is the number of a call to the node whose answer is the body, and stays there
 *   broadcast  op, kind, unreliable, offset, length, sender, room or -1, text index of the topic or
 *              -1, n, except ...
 *   send       op, kind, unreliable, offset, length, n, participants ...
 *   after      op, timer, delay in ms
 *   every      op, timer, interval in ms
 *   cancel     op, timer
 *   command    op, index of its name, text index, id of its call or 0, room or -1
 *   failed     op, id, status, cpu_us, text index or -1: one run of a call that has several
 *   state      op, room, offset, length, n, participants ...: a body of kind 50
 *   saved      op, room, number of its last sync, text index: the state as JSON
 *   fault      op, text index of the handler, text index of the error
 *   skipped    op: a tick of a room whose handler still ran
 */
export const op = {
  done: 1,
  broadcast: 2,
  send: 3,
  after: 4,
  cancel: 5,
  command: 6,
  failed: 7,
  every: 8,
  state: 9,
  saved: 10,
  fault: 11,
  skipped: 12,
} as const

/** Words of a record before its list. */
export const recordWords = {
  done: 7,
  broadcast: 9,
  send: 6,
  after: 3,
  cancel: 2,
  command: 5,
  failed: 5,
  every: 3,
  state: 5,
  saved: 4,
  fault: 3,
  skipped: 1,
} as const

/** Where the length of the list stands. */
export const listAt = { broadcast: 8, send: 5, state: 4 } as const

export const callStatuses = ['ok', 'error', 'failed_with_text', 'timed_out', 'too_large'] as const
export type CallStatus = (typeof callStatuses)[number]

export type OutputVisitor = {
  done(id: number, outcome: DoneRecord): void
  broadcast(command: BroadcastRecord): void
  send(command: SendRecord): void
  after(timer: number, delayMs: number): void
  every(timer: number, intervalMs: number): void
  cancel(timer: number): void
  command(command: CommandRecord): void
  failed(id: number, run: FailedRun): void
  state(message: StateRecord): void
  saved(state: SavedRecord): void
  fault(handler: string, text: string): void
  skipped(): void
}

/** A body of ROOM_STATE for members of a room. */
export type StateRecord = { room_id: number; body: Uint8Array; participants: readonly number[] }

/** The state of a room as JSON, behind the sync of this number. */
export type SavedRecord = { room_id: number; seq: number; text: string }

/** A command of the table, with its arguments as JSON. */
export type CommandRecord = {
  name: ScriptFunctionName
  text: string
  /** 0 outside of all calls. */
  call: number
  room_id: number | null
}

export type FailedRun = Pick<DoneRecord, 'status' | 'cpuUs' | 'text'>

export type DoneRecord = {
  status: CallStatus
  cpuUs: number
  reply: Uint8Array
  /** The call to the node whose answer is the reply. */
  handed: number | undefined
  text: string | undefined
}

type Message = { kind: number; body: Uint8Array; unreliable: boolean }
export type BroadcastRecord = Message & {
  sender: number
  except: readonly number[]
  room_id: number | null
  topic: string | undefined
}
export type SendRecord = Message & { participants: readonly number[] }

type Source = { buffer: ArrayBuffer; words: number; texts: readonly string[] }

/**
 * Visits the records in order. False as soon as one is not what it should be: then the worker is
 * broken, and what stood before the broken record has been visited.
 */
export function visitOutput(source: Source, visitor: OutputVisitor): boolean {
  const from = source.buffer.byteLength - source.words * 8
  const words = new Float64Array(source.buffer, from, source.words)
  const reader: Reader = { words, source, bytes: new Uint8Array(source.buffer) }
  let at = 0
  while (at < words.length) {
    const length = visitRecord(reader, at, visitor)
    if (length === 0) return false
    at += length
  }
  return true
}

type Reader = { words: Float64Array; bytes: Uint8Array; source: Source }

/** The length of the visited record; 0 when it is malformed. */
function visitRecord(reader: Reader, at: number, visitor: OutputVisitor): number {
  switch (reader.words[at]) {
    case op.done:
      return visitDone(reader, at, visitor)
    case op.broadcast:
      return visitBroadcast(reader, at, visitor)
    case op.send:
      return visitSend(reader, at, visitor)
    case op.after:
      return visitTimer(reader, at, visitor.after)
    case op.every:
      return visitTimer(reader, at, visitor.every)
    case op.cancel:
      return visitCancel(reader, at, visitor)
    case op.command:
      return visitCommand(reader, at, visitor)
    case op.failed:
      return visitFailed(reader, at, visitor)
    case op.skipped:
      visitor.skipped()
      return recordWords.skipped
    default:
      return visitRoomRecord(reader, at, visitor)
  }
}

/** What is said of rooms with state. */
function visitRoomRecord(
  { words, bytes, source }: Reader,
  at: number,
  visitor: OutputVisitor,
): number {
  const first = count(words[at + 1])
  if (first < 0) return 0
  switch (words[at]) {
    case op.state: {
      const body = view(bytes, words[at + 2], words[at + 3])
      const participants = list(words, at + listAt.state)
      if (!body || !participants) return 0
      visitor.state({ room_id: first, body, participants })
      return recordWords.state + participants.length
    }
    case op.saved: {
      const seq = count(words[at + 2])
      const text = source.texts[count(words[at + 3])]
      if (seq < 0 || text === undefined) return 0
      visitor.saved({ room_id: first, seq, text })
      return recordWords.saved
    }
    case op.fault: {
      const handler = source.texts[first]
      const text = source.texts[count(words[at + 2])]
      if (handler === undefined || text === undefined) return 0
      visitor.fault(handler, text)
      return recordWords.fault
    }
    default:
      return 0
  }
}

function visitDone({ words, bytes, source }: Reader, at: number, visitor: OutputVisitor): number {
  const id = count(words[at + 1])
  const status = callStatuses[count(words[at + 2])]
  const cpuUs = count(words[at + 3])
  const offset = words[at + 4] ?? 0
  const handed = offset < 0 ? count(-offset) : undefined
  const reply = view(bytes, handed === undefined ? offset : 0, words[at + 5])
  const index = words[at + 6]
  if (id < 0 || status === undefined || cpuUs < 0 || !reply || handed === -1) return 0
  const text = index === -1 ? undefined : source.texts[count(index)]
  if (index !== -1 && text === undefined) return 0
  visitor.done(id, { status, cpuUs, reply, handed, text })
  return recordWords.done
}

function visitBroadcast(
  { words, bytes, source }: Reader,
  at: number,
  visitor: OutputVisitor,
): number {
  const kind = count(words[at + 1])
  const body = view(bytes, words[at + 3], words[at + 4])
  const sender = count(words[at + 5])
  const room = words[at + 6]
  const except = list(words, at + listAt.broadcast)
  if (!isKind(kind) || !body || sender < 0 || !except) return 0
  if (room !== -1 && count(room) < 0) return 0
  const room_id = room === undefined || room === -1 ? null : room
  const unreliable = words[at + 2] === 1
  const topic = words[at + 7] === -1 ? undefined : source.texts[count(words[at + 7])]
  if (topic === undefined && words[at + 7] !== -1) return 0
  visitor.broadcast({ kind, body, unreliable, sender, except, room_id, topic })
  return recordWords.broadcast + except.length
}

function visitSend({ words, bytes }: Reader, at: number, visitor: OutputVisitor): number {
  const kind = count(words[at + 1])
  const body = view(bytes, words[at + 3], words[at + 4])
  const participants = list(words, at + listAt.send)
  if (!isKind(kind) || !body || !participants) return 0
  visitor.send({ kind, body, unreliable: words[at + 2] === 1, participants })
  return recordWords.send + participants.length
}

function visitTimer(
  { words }: Reader,
  at: number,
  visit: (timer: number, ms: number) => void,
): number {
  const timer = count(words[at + 1])
  const ms = count(words[at + 2])
  if (timer < 0 || ms < 1 || ms > 86_400_000) return 0
  visit(timer, ms)
  return recordWords.after
}

function visitCancel({ words }: Reader, at: number, visitor: OutputVisitor): number {
  const timer = count(words[at + 1])
  if (timer < 0) return 0
  visitor.cancel(timer)
  return recordWords.cancel
}

function visitCommand({ words, source }: Reader, at: number, visitor: OutputVisitor): number {
  const name = commandNames[count(words[at + 1])]
  const text = source.texts[count(words[at + 2])]
  const call = count(words[at + 3])
  const room = words[at + 4]
  if (name === undefined || text === undefined || call < 0) return 0
  if (room !== -1 && count(room) < 0) return 0
  visitor.command({ name, text, call, room_id: room === undefined || room === -1 ? null : room })
  return recordWords.command
}

function visitFailed({ words, source }: Reader, at: number, visitor: OutputVisitor): number {
  const id = count(words[at + 1])
  const status = callStatuses[count(words[at + 2])]
  const cpuUs = count(words[at + 3])
  const text = words[at + 4] === -1 ? undefined : source.texts[count(words[at + 4])]
  if (id < 0 || status === undefined || cpuUs < 0) return 0
  visitor.failed(id, { status, cpuUs, text })
  return recordWords.failed
}

/** The word as an exact count; -1 when it is none. */
function count(word: number | undefined): number {
  return word !== undefined && Number.isSafeInteger(word) && word >= 0 ? word : -1
}

/** A client never receives a kind of the service itself, except the position's (2). */
function isKind(kind: number): boolean {
  return kind === 2 || (kind >= 100 && kind <= 65_535)
}

function view(bytes: Uint8Array, from: number | undefined, length: number | undefined) {
  const start = count(from)
  const size = count(length)
  if (start < 0 || size < 0 || start + size > bytes.length) return undefined
  return bytes.subarray(start, start + size)
}

/** The list whose length stands at `at`. */
function list(words: Float64Array, at: number): number[] | undefined {
  const length = count(words[at])
  if (length < 0 || at + 1 + length > words.length) return undefined
  const items = new Array<number>(length)
  for (let index = 0; index < length; index += 1) {
    const item = count(words[at + 1 + index])
    if (item < 0) return undefined
    items[index] = item
  }
  return items
}
