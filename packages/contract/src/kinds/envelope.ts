/**
 * The bytes of the realtime protocol. A frame is `length u32 · kind u16 · body`, where `length` is
 * 2 plus the bytes of the body; a datagram is `kind u16 · body`. Integers are big-endian.
 */

/** What travels: a kind (0..65535) and a body that means whatever the kind says. */
export type Envelope = { kind: number; body: Uint8Array }

/** Bytes in front of the body of a frame: the length (4) and the kind (2). */
export const frameHeaderBytes = 6
/** Smallest value of the length field: a kind and an empty body. */
export const envelopeBytesMin = 2
/** Largest value of the length field that any peer may use: 8 MiB. A node may allow less. */
export const envelopeBytesMax = 8 * 1024 * 1024

/**
 * What is wrong with received bytes: `frame_length` when a length field is out of bounds,
 * `rpc_header` when an RPC_REQUEST is too short for its request id, `malformed_body` otherwise.
 */
export type WireErrorCode = 'frame_length' | 'rpc_header' | 'malformed_body'

/** The one error that decoders of this package throw, whatever the bytes are. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly code: WireErrorCode

  constructor(code: WireErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The frame of one envelope, in memory of its own.
 *
 * @throws RangeError when the kind is no integer of 0..65535 or the body exceeds 8 MiB - 2 bytes
 * @example encodeFrame(100, new Uint8Array([1])) // 00 00 00 03 00 64 01
 */
export function encodeFrame(kind: number, body: Uint8Array): Uint8Array {
  checkKind(kind)
  const length = envelopeBytesMin + body.length
  if (length > envelopeBytesMax) throw new RangeError('the body does not fit into a frame')
  const frame = new Uint8Array(frameHeaderBytes + body.length)
  frame[0] = length >>> 24
  frame[1] = length >>> 16
  frame[2] = length >>> 8
  frame[3] = length
  frame[4] = kind >>> 8
  frame[5] = kind
  frame.set(body, frameHeaderBytes)
  return frame
}

/**
 * The datagram of one envelope, in memory of its own.
 *
 * @throws RangeError when the kind is no integer of 0..65535
 * @example encodeDatagram(100, new Uint8Array([1])) // 00 64 01
 */
export function encodeDatagram(kind: number, body: Uint8Array): Uint8Array {
  checkKind(kind)
  const datagram = new Uint8Array(2 + body.length)
  datagram[0] = kind >>> 8
  datagram[1] = kind
  datagram.set(body, 2)
  return datagram
}

/**
 * The envelope of one datagram. The body is a view of `datagram`, not a copy.
 *
 * @throws WireError `frame_length` when the datagram has less than 2 bytes
 */
export function decodeDatagram(datagram: Uint8Array): Envelope {
  if (datagram.length < 2) throw new WireError('frame_length', 'a datagram has at least 2 bytes')
  return { kind: u16At(datagram, 0), body: datagram.subarray(2) }
}

const nothing: Uint8Array = new Uint8Array(0)
const lengthFieldBytes = 4
const firstGrowthBytes = 256

/**
 * Cuts a byte stream into envelopes, however the stream was chunked. Every byte is copied at most
 * a constant number of times: a frame that lies within one chunk is returned as a view of it, and
 * one that spans chunks is gathered in a buffer that doubles, so that memory follows what was
 * received and not what a length field claims.
 *
 * @example
 * const decoder = new FrameDecoder(65536)
 * decoder.push(chunk)
 * for (let envelope = decoder.next(); envelope; envelope = decoder.next()) handle(envelope)
 */
export class FrameDecoder {
  readonly #lengthMax: number
  #chunk = nothing
  #offset = 0
  /** Chunks behind the present one, from `#queueHead` on; only there while somebody lags. */
  #queue: Uint8Array[] | undefined
  #queueHead = 0
  /** The beginning of a frame that spans chunks. */
  #gathered: Uint8Array | undefined
  #gatheredBytes = 0
  #pendingBytes = 0

  /** `maxEnvelopeBytes` bounds the length field (2 plus the bytes of the body). */
  constructor(maxEnvelopeBytes: number) {
    this.#lengthMax = maxEnvelopeBytes
  }

  /** Bytes that were pushed and not yet returned as part of an envelope. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Appends received bytes. They must not be changed until the last envelope is out of use. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    this.#pendingBytes += chunk.length
    // What is used up has been let go, so an empty chunk means that nothing waits.
    if (this.#chunk.length === 0) {
      this.#chunk = chunk
    } else {
      this.#queue ??= []
      this.#queue.push(chunk)
    }
  }

  /**
   * The next envelope, or undefined when less than a whole frame is there. Its body may be a view
   * of a pushed chunk.
   *
   * @throws WireError `frame_length` as soon as the four bytes of a bad length are known; every
   * later call throws it again, because the stream cannot be resumed
   */
  next(): Envelope | undefined {
    if (this.#gathered !== undefined) return this.#nextGathered(this.#gathered)
    const chunk = this.#chunk
    const start = this.#offset
    const available = chunk.length - start
    if (available === 0) return undefined
    if (available >= lengthFieldBytes) {
      const end = start + lengthFieldBytes + this.#checkedLength(chunk, start)
      if (end <= chunk.length) {
        this.#skip(end - start)
        this.#pendingBytes -= end - start
        return {
          kind: u16At(chunk, start + lengthFieldBytes),
          body: chunk.subarray(start + frameHeaderBytes, end),
        }
      }
    }
    this.#gatheredBytes = 0
    this.#gathered = new Uint8Array(Math.max(available, firstGrowthBytes))
    return this.#nextGathered(this.#gathered)
  }

  #nextGathered(begun: Uint8Array): Envelope | undefined {
    const withLength = this.#gather(begun, lengthFieldBytes)
    if (withLength === undefined) return undefined
    const end = lengthFieldBytes + this.#checkedLength(withLength, 0)
    const frame = this.#gather(withLength, end)
    if (frame === undefined) return undefined
    this.#gathered = undefined
    this.#pendingBytes -= end
    return { kind: u16At(frame, lengthFieldBytes), body: frame.subarray(frameHeaderBytes, end) }
  }

  /** Moves bytes behind `gathered` until it holds `target` of them; undefined when they run out. */
  #gather(gathered: Uint8Array, target: number): Uint8Array | undefined {
    let buffer: Uint8Array = gathered
    while (this.#gatheredBytes < target) {
      const count = Math.min(target - this.#gatheredBytes, this.#chunk.length - this.#offset)
      if (count === 0) return undefined
      const needed = this.#gatheredBytes + count
      if (needed > buffer.length) {
        const larger = new Uint8Array(Math.min(target, Math.max(needed, 2 * buffer.length)))
        larger.set(buffer.subarray(0, this.#gatheredBytes))
        buffer = larger
        this.#gathered = larger
      }
      buffer.set(this.#chunk.subarray(this.#offset, this.#offset + count), this.#gatheredBytes)
      this.#gatheredBytes = needed
      this.#skip(count)
    }
    return buffer
  }

  #skip(count: number): void {
    this.#offset += count
    if (this.#offset < this.#chunk.length) return
    this.#offset = 0
    this.#chunk = this.#queue?.[this.#queueHead] ?? nothing
    if (this.#queue === undefined) return
    this.#queueHead += 1
    if (this.#queueHead < this.#queue.length) return
    this.#queue = undefined
    this.#queueHead = 0
  }

  #checkedLength(bytes: Uint8Array, at: number): number {
    const length = u16At(bytes, at) * 65536 + u16At(bytes, at + 2)
    if (length < envelopeBytesMin || length > this.#lengthMax) {
      throw new WireError('frame_length', `frame length ${length} is out of bounds`)
    }
    return length
  }
}

function u16At(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

function checkKind(kind: number): void {
  if (!Number.isInteger(kind) || kind < 0 || kind > 65535) {
    throw new RangeError('a kind is an integer of 0..65535')
  }
}
