import { WireError } from './envelope.ts'

/** How the body of one kind is written and read. */
export type BodyCodec<Value> = {
  /** @throws RangeError when a field does not fit its place */
  encode(value: Value): Uint8Array
  /** @throws WireError when the bytes are no body of this kind; nothing else is ever thrown */
  decode(body: Uint8Array): Value
}

/**
 * Writes a body field by field. `str` is a u16 byte length and UTF-8, `text` is UTF-8 without a
 * length; all integers are unsigned and big-endian.
 */
export class BodyWriter {
  #bytes = new Uint8Array(64)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  u8(value: number): this {
    const at = this.#reserve(1, value, 0xff)
    this.#view.setUint8(at, value)
    return this
  }

  u16(value: number): this {
    const at = this.#reserve(2, value, 0xffff)
    this.#view.setUint16(at, value)
    return this
  }

  u32(value: number): this {
    const at = this.#reserve(4, value, 0xffffffff)
    this.#view.setUint32(at, value)
    return this
  }

  /** Eight bytes from an exact number: an id, a time. */
  safe(value: number): this {
    const at = this.#reserve(8, value, Number.MAX_SAFE_INTEGER)
    this.#view.setBigUint64(at, BigInt(value))
    return this
  }

  u64(value: bigint): this {
    if (value < 0n || value > 0xffffffffffffffffn) throw outOfRange()
    const at = this.#extend(8)
    this.#view.setBigUint64(at, value)
    return this
  }

  str(value: string): this {
    const utf8 = encoder.encode(value)
    return this.u16(utf8.length).bytes(utf8)
  }

  text(value: string): this {
    return this.bytes(encoder.encode(value))
  }

  bytes(value: Uint8Array): this {
    const at = this.#extend(value.length)
    this.#bytes.set(value, at)
    return this
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(size: number, value: number, max: number): number {
    if (!Number.isInteger(value) || value < 0 || value > max) throw outOfRange()
    return this.#extend(size)
  }

  #extend(size: number): number {
    const at = this.#length
    this.#length += size
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length))
      larger.set(this.#bytes)
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    return at
  }
}

/** Reads a body field by field and throws WireError `malformed_body` where it ends too early. */
export class BodyReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(body: Uint8Array) {
    this.#bytes = body
    this.#view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2))
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4))
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8))
  }

  /** Eight bytes as an exact number; a value above 2^53 - 1 is malformed. */
  safe(): number {
    const value = this.u64()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed('a number above 2^53 - 1')
    return Number(value)
  }

  /**
   * Eight bytes as an id. Ids lie below 2^52; what a stranger sends above that is rounded, which
   * cannot turn it into an id that exists.
   */
  id(): number {
    return Number(this.u64())
  }

  str(): string {
    return decodeUtf8(this.bytes(this.u16()))
  }

  /** The rest of the body as UTF-8. */
  text(): string {
    return decodeUtf8(this.rest())
  }

  /** A view of the next bytes. */
  bytes(count: number): Uint8Array {
    const start = this.#take(count)
    return this.#bytes.subarray(start, start + count)
  }

  /** A view of what is left. */
  rest(): Uint8Array {
    return this.bytes(this.left)
  }

  /** How many bytes are left. */
  get left(): number {
    return this.#bytes.length - this.#offset
  }

  /** A value of a closed set. */
  oneOf<Value>(values: readonly Value[], index: number): Value {
    const value = values[index]
    if (value === undefined) throw malformed('an unknown value')
    return value
  }

  /** A byte that has one allowed value, such as the version of a body. */
  literal(expected: number): this {
    if (this.u8() !== expected) throw malformed('another version')
    return this
  }

  /** Refuses bytes behind the last field. */
  end(): void {
    if (this.left > 0) throw malformed('bytes behind the last field')
  }

  #take(count: number): number {
    const start = this.#offset
    if (start + count > this.#bytes.length) throw malformed('a body that ends too early')
    this.#offset = start + count
    return start
  }
}

export function malformed(what: string): WireError {
  return new WireError('malformed_body', what)
}

/** @throws WireError `malformed_body` when the bytes are no UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw malformed('invalid UTF-8')
  }
}

const encoder = new TextEncoder()
/** A byte order mark is text like any other here, so that what was sent is what arrives. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function outOfRange(): RangeError {
  return new RangeError('a field does not fit its place in the body')
}
