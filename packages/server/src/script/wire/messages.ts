import { deserialize, serialize } from 'node:v8'
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
/** No message is nearly as long: whoever says so sends what is none. */
const messageBytesMax = 1_073_741_824

export function encodeMessage(message: ToWorker | FromWorker): Uint8Array {
  if (message.type !== 'batch') return withHead(forms.value, serialize(message))
  return 'results' in message ? encodeCallBatch(message) : encodeOutputBatch(message)
}

function encodeCallBatch({ calls, buffer, texts, results, now }: CallBatch): Uint8Array {
  const isPlain = results.length === 0 && now === undefined
  const rare = isPlain ? undefined : serialize({ results, now })
  return encodeBatch(forms.calls, { first: calls, second: 0, buffer, texts, rare })
}

function encodeOutputBatch(batch: OutputBatch): Uint8Array {
  const { answered, words, buffer, texts, calls, stopped } = batch
  const isPlain = calls.length === 0 && stopped.length === 0
  const rare = isPlain ? undefined : serialize({ calls, stopped })
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
  return message
}

const noText = -1

function withHead(form: number, body: Uint8Array): Uint8Array {
  const message = newMessage(form, headBytes + body.length)
  message.set(body, headBytes)
  return message
}

function newMessage(form: number, bytes: number): Buffer {
  const message = Buffer.allocUnsafe(bytes)
  message.writeUInt32LE(bytes - headBytes, 0)
  message.writeUInt32LE(form, 4)
  return message
}

/**
 * Puts the messages together again out of the pieces of a stream. Throws when the bytes are no
 * messages; what is in them is for the receiver to check.
 */
export class MessageReader {
  #pieces: Buffer[] = []
  #bytes = 0
  /** How many bytes there must be before it is worth a look. */
  #wanted = headBytes

  read(piece: Buffer): unknown[] {
    this.#pieces[this.#pieces.length] = piece
    this.#bytes += piece.length
    const messages: unknown[] = []
    if (this.#bytes < this.#wanted) return messages
    const all = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)
    let at = 0
    while (this.#whole(all, at)) {
      messages[messages.length] = decode(all, at + headBytes, at + this.#wanted)
      at += this.#wanted
    }
    this.#pieces = at === all.length ? [] : [all.subarray(at)]
    this.#bytes = all.length - at
    return messages
  }

  /** Whether a message that begins here is all there. */
  #whole(all: Buffer, at: number): boolean {
    this.#wanted = headBytes
    if (all.length - at < headBytes) return false
    const length = all.readUInt32LE(at)
    if (length > messageBytesMax) throw new RangeError('a message is too long')
    this.#wanted += length
    return all.length - at >= this.#wanted
  }
}

function decode(all: Buffer, from: number, to: number): unknown {
  const form = all.readUInt32LE(from - 4)
  if (form === forms.value) return valueIn(all, from, to)
  if (form !== forms.calls && form !== forms.output) throw new RangeError('an unknown form')
  const { first, second, buffer, texts, rareAt } = decodeBatch(all, from, to)
  const rare = rareAt === to ? undefined : valueIn(all, rareAt, to)
  if (form === forms.output) {
    const { calls = [], stopped = [] } = (rare ?? {}) as Partial<OutputBatch>
    return { type: 'batch', answered: first, words: second, buffer, texts, calls, stopped }
  }
  const { results = [], now } = (rare ?? {}) as Partial<CallBatch>
  return { type: 'batch', calls: first, buffer, texts, results, now }
}

function decodeBatch(all: Buffer, from: number, to: number) {
  const bufferAt = from + batchHeadBytes
  if (bufferAt > to) throw new RangeError('a batch is too short')
  let at = bufferAt + all.readUInt32LE(from + 8)
  const texts: (string | null)[] = []
  const count = all.readUInt32LE(from + 12)
  for (let n = 0; n < count; n += 1) {
    if (at + 4 > to) throw new RangeError('a text is missing')
    const length = all.readInt32LE(at)
    at += 4
    if (length > to - at) throw new RangeError('a text is too short')
    texts[n] = length < 0 ? null : all.toString('utf8', at, at + length)
    at += Math.max(0, length)
  }
  if (at > to) throw new RangeError('a buffer is too short')
  const start = all.byteOffset + bufferAt
  const buffer = all.buffer.slice(start, start + all.readUInt32LE(from + 8))
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
