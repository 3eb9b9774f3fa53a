import { decodeUtf8 } from '../kinds/bytes.ts'
import { WireError } from '../kinds/envelope.ts'

/**
 * Bytes of kind 50 (ROOM_STATE): varint = LEB128 of an unsigned integer below 2^53, int = a signed
 * one with its sign in the lowest bit (zigzag), text = its length as varint and UTF-8.
 */
export class StateWriter {
  #bytes = new Uint8Array(256)
  #length = 0

  get length(): number {
    return this.#length
  }

  u8(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length] = value
    this.#length += 1
  }

  u32(value: number): void {
    this.#reserve(4)
    for (let shift = 24; shift >= 0; shift -= 8) this.u8((value >>> shift) & 0xff)
  }

  /** Eight bytes, big-endian, of an id. */
  u64(value: number): void {
    this.u32(Math.floor(value / 0x1_0000_0000))
    this.u32(value % 0x1_0000_0000)
  }

  varint(value: number): void {
    this.#reserve(8)
    let left = value
    while (left > 0x7f) {
      this.#bytes[this.#length] = 0x80 | (left % 0x80)
      this.#length += 1
      left = Math.floor(left / 0x80)
    }
    this.#bytes[this.#length] = left
    this.#length += 1
  }

  /** Of an integer whose amount is below 2^53. */
  int(value: number): void {
    const sign = value < 0 ? 1 : 0
    const amount = value < 0 ? -value - 1 : value
    if (amount < 64) {
      this.u8(amount * 2 + sign)
      return
    }
    this.u8(0x80 | ((amount % 64) * 2 + sign))
    this.varint(Math.floor(amount / 64))
  }

  /** The first ones of a list. */
  ints(values: readonly number[], count: number): void {
    this.#reserve(8 * count)
    for (let n = 0; n < count; n += 1) {
      const value = values[n] ?? 0
      // Most are steps of a byte.
      if (value >= 64 || value < -64) this.int(value)
      else {
        this.#bytes[this.#length] = value < 0 ? -2 * value - 1 : 2 * value
        this.#length += 1
      }
    }
  }

  /** Little-endian. */
  f64(value: number): void {
    this.#reserve(8)
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true)
    this.#length += 8
  }

  text(value: string): void {
    if (value.length <= few && this.#ascii(value)) return
    this.bytesWithLength(encoder.encode(value))
  }

  /** False for a text that has other characters: nothing of it is written. */
  #ascii(value: string): boolean {
    const { length } = value
    this.#reserve(length + 1)
    const at = this.#length + 1
    for (let n = 0; n < length; n += 1) {
      const code = value.charCodeAt(n)
      if (code > 0x7f) return false
      this.#bytes[at + n] = code
    }
    this.#bytes[at - 1] = length
    this.#length = at + length
    return true
  }

  bytesWithLength(value: Uint8Array): void {
    this.varint(value.length)
    this.bytes(value)
  }

  /** The bytes from `from` on. */
  bytes(value: Uint8Array, from = 0): void {
    const length = value.length - from
    this.#reserve(length)
    if (length > few) this.#bytes.set(value.subarray(from), this.#length)
    else for (let n = 0; n < length; n += 1) this.#bytes[this.#length + n] = value[from + n] ?? 0
    this.#length += length
  }

  /** Forgets what was written, and leaves out so many bytes. */
  clear(leaving = 0): void {
    this.#length = leaving
  }

  /** A copy of what was written; the writer begins anew. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length)
    this.#length = 0
    if (this.#bytes.length > keptBytes) this.#bytes = new Uint8Array(256)
    return taken
  }

  #reserve(count: number): void {
    const wanted = this.#length + count
    if (wanted <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(wanted, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

/** Reads what `StateWriter` wrote; throws WireError `malformed_body` where it ends too early. */
export class StateReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  u8(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw malformedState('a body that ends too early')
    this.#at += 1
    return byte
  }

  u32(): number {
    let value = 0
    for (let n = 0; n < 4; n += 1) value = value * 0x100 + this.u8()
    return value
  }

  u64(): number {
    return this.u32() * 0x1_0000_0000 + this.u32()
  }

  varint(): number {
    let value = 0
    let unit = 1
    for (let n = 0; n < 8; n += 1) {
      const byte = this.u8()
      value += (byte & 0x7f) * unit
      if (byte < 0x80) return value
      unit *= 0x80
    }
    throw malformedState()
  }

  int(): number {
    const byte = this.u8()
    const low = (byte & 0x7f) >> 1
    const amount = byte < 0x80 ? low : low + 64 * this.varint()
    return byte & 1 ? -amount - 1 : amount
  }

  f64(): number {
    const bytes = this.bytes(8)
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
  }

  text(): string {
    return decodeUtf8(this.bytes(this.varint()))
  }

  /** A view of the next bytes. */
  bytes(count: number): Uint8Array {
    if (count > this.left) throw malformedState('a body that ends too early')
    const start = this.#at
    this.#at += count
    return this.#bytes.subarray(start, start + count)
  }
}

export function malformedState(what = 'a change of what is not there'): WireError {
  return new WireError('malformed_body', what)
}

const encoder = new TextEncoder()

/** Up to so many characters or bytes a loop is faster than a call into the engine. */
const few = 64
/** Larger storage is given back after the message that needed it. */
const keptBytes = 65_536
