import { Buffer } from 'node:buffer'
import { deserialize, serialize } from 'node:v8'
import { callsOf, listOfCalls, listOfResults, resultsOf } from './listed.ts'
import type { CallBatch, FromWorker, OutputBatch, ToWorker } from './protocol.ts'

/*
 * Messages between a node and its worker as they travel: each led by the bytes behind its head and
 * by its form. Batches, of which a busy script has thousands in a second, have a form of their own;
 * all else, and of batches what is rare, is what V8 makes of it.
 */
const forms = { value: 0, calls: 1, output: 2 } as const

const headBytes = 8
/** Behind the head of a batch: two of its numbers, the bytes of its buffer, how many texts. */
const batchHeadBytes = 16

export function encodeMessage(message: ToWorker | FromWorker): Uint8Array {
  if (message.type !== 'batch') return withHead(forms.value, serialize(message))
  return 'results' in message ? encodeCallBatch(message) : encodeOutputBatch(message)
}

function encodeCallBatch({ calls, buffer, texts, results, now }: CallBatch): Uint8Array {
  const isPlain = results.length === 0 && now === undefined
  const rare = isPlain ? undefined : serialize({ results: listOfResults(results), now })
  return encodeBatch(forms.calls, { first: calls, second: 0, buffer, texts, rare })
}

function encodeOutputBatch(batch: OutputBatch): Uint8Array {
  const { answered, words, buffer, texts, calls, stopped } = batch
  const isPlain = calls.length === 0 && stopped.length === 0
  const rare = isPlain ? undefined : serialize({ calls: listOfCalls(calls), stopped })
  return encodeBatch(forms.output, { first: answered, second: words, buffer, texts, rare })
}

type Batch = {
  readonly first: number
  readonly second: number
  readonly buffer: ArrayBuffer
  readonly texts: readonly (string | null)[]
  readonly rare: Uint8Array | undefined
}

function encodeBatch(form: number, { first, second, buffer, texts, rare }: Batch): Uint8Array {
  let bytes = headBytes + batchHeadBytes + buffer.byteLength + (rare?.length ?? 0)
  for (let n = 0; n < texts.length; n += 1) bytes += 4 + Buffer.byteLength(texts[n] ?? '')
  const message = newMessage(form, bytes)
  message.writeUInt32LE(first, headBytes)
  message.writeUInt32LE(second, headBytes + 4)
  message.writeUInt32LE(buffer.byteLength, headBytes + 8)
  message.writeUInt32LE(texts.length, headBytes + 12)
  message.set(new Uint8Array(buffer), headBytes + batchHeadBytes)
  let at = headBytes + batchHeadBytes + buffer.byteLength
  for (let n = 0; n < texts.length; n += 1) {
    const text = texts[n]
    const length = typeof text === 'string' ? message.write(text, at + 4) : noText
    message.writeInt32LE(length, at)
    at += 4 + Math.max(0, length)
  }
  if (rare) message.set(rare, at)
  if (at + (rare?.length ?? 0) !== bytes) throw new RangeError('a batch has another length')
  return message
}

const noText = -1

function withHead(form: number, body: Uint8Array): Uint8Array {
  const message = newMessage(form, headBytes + body.length)
  message.set(body, headBytes)
  return message
}

function newMessage(form: number, bytes: number): Buffer {
  const message = newBytes(bytes)
  message.writeUInt32LE(bytes - headBytes, 0)
  message.writeUInt32LE(form, 4)
  return message
}

let pool = Buffer.allocUnsafeSlow(0)
let pooled = 0

/** Not out of the pool of Node.js: a script cuts its own buffers from that. */
function newBytes(bytes: number): Buffer {
  if (bytes > poolBytes / 8) return Buffer.allocUnsafeSlow(bytes)
  if (pooled + bytes > pool.length) {
    pool = Buffer.allocUnsafeSlow(poolBytes)
    pooled = 0
  }
  const from = pooled
  pooled += bytes
  return pool.subarray(from, pooled)
}

const poolBytes = 65_536

/** What is wrong with the bytes that came. */
export type MessageProblem = 'what is no message' | 'a message that is too long'

/**
 * Puts the messages together again out of the pieces of a stream. What is in them is for the
 * receiver to check.
 */
export class MessageReader {
  readonly #bytesMax: number
  /** As long as the message that has begun, or as its head until that is here. */
  #begun = noBytes
  /** How much of it is here. */
  #filled = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Takes each message as soon as it is read; behind a problem there is nothing to read. */
  read(piece: Buffer, take: (message: unknown) => void): MessageProblem | undefined {
    for (let at = 0; at < piece.length; ) {
      if (this.#filled === 0) {
        const bytes = bytesOfMessage(piece, at)
        if (bytes > this.#bytesMax) return 'a message that is too long'
        if (bytes <= piece.length - at) {
          if (!takeMessage(piece, at, bytes, take)) return 'what is no message'
          at += bytes
          continue
        }
        this.#begun = Buffer.allocUnsafeSlow(bytes)
      }
      at += this.#fill(piece, at)
      if (this.#filled < this.#begun.length) return undefined
      const bytes = bytesOfMessage(this.#begun, 0)
      if (bytes > this.#bytesMax) return 'a message that is too long'
      if (bytes > this.#filled) this.#lengthen(bytes)
      else if (!this.#takeBegun(take)) return 'what is no message'
    }
    return undefined
  }

  #fill(piece: Buffer, at: number): number {
    const copied = piece.copy(this.#begun, this.#filled, at)
    this.#filled += copied
    return copied
  }

  /** Its head is here, which says how long it is. */
  #lengthen(bytes: number): void {
    const longer = Buffer.allocUnsafeSlow(bytes)
    this.#begun.copy(longer)
    this.#begun = longer
  }

  #takeBegun(take: (message: unknown) => void): boolean {
    const message = this.#begun
    this.#begun = noBytes
    this.#filled = 0
    return takeMessage(message, 0, message.length, take)
  }
}

const noBytes = Buffer.allocUnsafeSlow(0)

/** Of the message that begins here, or of its head where that is not whole. */
function bytesOfMessage(all: Buffer, at: number): number {
  return all.length - at < headBytes ? headBytes : headBytes + all.readUInt32LE(at)
}

function takeMessage(
  all: Buffer,
  at: number,
  bytes: number,
  take: (message: unknown) => void,
): boolean {
  let message: unknown
  try {
    message = decode(all, at + headBytes, at + bytes)
  } catch {
    return false
  }
  take(message)
  return true
}

function decode(all: Buffer, from: number, to: number): unknown {
  const form = all.readUInt32LE(from - 4)
  if (form === forms.value) return valueIn(all, from, to)
  if (form !== forms.calls && form !== forms.output) throw new RangeError('an unknown form')
  const { first, second, buffer, texts, rareAt } = decodeBatch(all, from, to)
  const rare = (rareAt === to ? {} : valueIn(all, rareAt, to)) as Rare
  if (form === forms.output) {
    const { stopped = [] } = rare
    const calls = callsOf(rare.calls)
    return { type: 'batch', answered: first, words: second, buffer, texts, calls, stopped }
  }
  const results = resultsOf(rare.results)
  return { type: 'batch', calls: first, buffer, texts, results, now: rare.now }
}

/** What a batch hardly ever has, with lists in place of calls and results. */
type Rare = { calls?: unknown; stopped?: unknown; results?: unknown; now?: unknown }

function decodeBatch(all: Buffer, from: number, to: number) {
  const bufferAt = from + batchHeadBytes
  if (bufferAt > to) throw new RangeError('a batch is too short')
  const bufferBytes = all.readUInt32LE(from + 8)
  let at = bufferAt + bufferBytes
  if (at > to) throw new RangeError('a buffer is too short')
  const texts: (string | null)[] = []
  const count = all.readUInt32LE(from + 12)
  // Each has its length here, and a record in the buffer that speaks of it.
  if (count > (to - at) / 4 || count > bufferBytes / 8) throw new RangeError('too many texts')
  for (let n = 0; n < count; n += 1) {
    if (at + 4 > to) throw new RangeError('a text is missing')
    const length = all.readInt32LE(at)
    at += 4
    if (length > to - at) throw new RangeError('a text is too short')
    texts[n] = length < 0 ? null : all.toString('utf8', at, at + length)
    at += Math.max(0, length)
  }
  const start = all.byteOffset + bufferAt
  const buffer = all.buffer.slice(start, start + bufferBytes)
  return {
    first: all.readUInt32LE(from),
    second: all.readUInt32LE(from + 4),
    buffer,
    texts,
    rareAt: at,
  }
}

/** Of bytes of its own: views that the value has shall show nothing of other messages. */
function valueIn(all: Buffer, from: number, to: number): unknown {
  return deserialize(new Uint8Array(all.subarray(from, to)))
}
