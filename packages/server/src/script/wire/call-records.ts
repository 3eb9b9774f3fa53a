import { isCallCode } from './hooks.ts'

/**
 * How calls travel to the worker: ten 64-bit floats each (they hold participant ids exactly), then
 * the bodies. Texts stand in an array beside the buffer and are referred to by index.
 */
export type CallRecord = {
  id: number
  /** The code of a hook, or of a timer. */
  hook: number
  participant: number
  room_id: number | null
  /** The message kind, the timer's id or the tick's dt. */
  detail: number
  unreliable: boolean
  /** An index into `origins`. */
  origin: number
  body: Uint8Array
  /** The RPC method, or the call's payload as JSON. */
  text: string | null
  /** The participant's texts where they are new to the worker; undefined = as sent before. */
  about: CallTexts | undefined
  /** In the worker: the runs of one call, a room each, which are answered together. */
  group: CallGroup | undefined
  /** In the worker: a run that has settled. */
  isOver: boolean
}

/** How many runs of a call have not settled, what the others used, and how one of them failed. */
export type CallGroup = {
  left: number
  cpuUs: number
  failed: { status: number; length: number; text?: string } | undefined
}

export type CallTexts = {
  readonly user_id: string | null
  readonly username: string | null
  readonly match_id: string | null
}

const fields = 10
const none = -1
const aboutTexts = 3

export type EncodedCalls = { buffer: ArrayBuffer; texts: (string | null)[] }

export function encodeCalls(calls: readonly CallRecord[]): EncodedCalls {
  let bodyBytes = 0
  for (const call of calls) bodyBytes += call.body.byteLength
  const recordBytes = calls.length * fields * 8
  const buffer = new ArrayBuffer(recordBytes + bodyBytes)
  const words = new Float64Array(buffer, 0, calls.length * fields)
  const bodies = new Uint8Array(buffer)
  const texts: (string | null)[] = []
  let offset = recordBytes
  let at = 0
  for (const call of calls) {
    words[at] = call.id
    words[at + 1] = call.hook
    words[at + 2] = call.participant
    words[at + 3] = call.room_id ?? none
    words[at + 4] = call.detail
    words[at + 5] = call.origin * 2 + (call.unreliable ? 1 : 0)
    words[at + 6] = offset
    words[at + 7] = call.body.byteLength
    words[at + 8] = call.text === null ? none : texts.push(call.text) - 1
    words[at + 9] = call.about === undefined ? none : pushAbout(texts, call.about)
    bodies.set(call.body, offset)
    offset += call.body.byteLength
    at += fields
  }
  return { buffer, texts }
}

/** Reads the calls of one batch. The worker trusts the node and checks nothing. */
type ReceivedCalls = Readonly<{
  buffer: ArrayBuffer
  texts: readonly (string | null)[]
  calls: number
}>

export function createCallReader({ calls, buffer, texts }: ReceivedCalls) {
  const words = new Float64Array(buffer, 0, calls * fields)
  const bytes = new Uint8Array(buffer)
  return (index: number): CallRecord => {
    const at = index * fields
    const field = (n: number) => words[at + n] ?? 0
    const flags = field(5)
    const room = field(3)
    const text = field(8)
    const about = field(9)
    return {
      id: field(0),
      hook: hookOf(field(1)),
      participant: field(2),
      room_id: room === none ? null : room,
      detail: field(4),
      unreliable: flags % 2 === 1,
      origin: flags >> 1,
      body: copyBody(bytes, field(6), field(7)),
      text: text === none ? null : (texts[text] ?? null),
      about: about === none ? undefined : readAbout(texts, about),
      group: undefined,
      isOver: false,
    }
  }
}

/** The rooms of a tick as the body of its call; null is the run without a room. */
export function tickBody(rooms: readonly (number | null)[]): Uint8Array {
  return new Uint8Array(Float64Array.from(rooms, (room) => room ?? none).buffer)
}

export function tickRooms({ body }: CallRecord): (number | null)[] {
  const words = new Float64Array(body.buffer, 0, body.length / 8)
  const rooms: (number | null)[] = []
  for (let n = 0; n < words.length; n += 1) rooms[n] = roomIn(words[n])
  return rooms
}

function roomIn(word = none): number | null {
  return word === none ? null : word
}

const smallBytes = 64

/**
 * Every call has a body of its own: a handler may keep it without keeping the batch, and never
 * sees other bodies behind it. Small ones are copied here, which is faster than a call outside.
 */
function copyBody(bytes: Uint8Array, from: number, length: number): Uint8Array {
  const body = new Uint8Array(length)
  if (length > smallBytes) body.set(bytes.subarray(from, from + length))
  else for (let n = 0; n < length; n += 1) body[n] = bytes[from + n] ?? 0
  return body
}

function hookOf(code: number): number {
  if (!isCallCode(code)) throw new RangeError('unknown hook')
  return code
}

function pushAbout(texts: (string | null)[], about: CallTexts): number {
  return texts.push(about.user_id, about.username, about.match_id) - aboutTexts
}

function readAbout(texts: readonly (string | null)[], at: number): CallTexts {
  return {
    user_id: texts[at] ?? null,
    username: texts[at + 1] ?? null,
    match_id: texts[at + 2] ?? null,
  }
}
