import { invalidArgument } from '../../../errors.ts'
import { inside, UnfitValue } from '../../../unfit-value.ts'
import { code } from './marshal-writer.ts'

/**
 * Reads values that the interpreter has written in the format of `marshal`, version 2. A script can
 * make any bytes, so nothing is believed: what is no value of the script API is refused.
 *
 * @throws GuildhallError `invalid_argument`
 */
export class MarshalReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #end: number
  #at: number

  /** `bytes` are the memory, of which a part is read. */
  constructor(bytes: Uint8Array, from: number, length: number) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset)
    this.#at = from
    this.#end = from + length
  }

  /** How many items of a tuple follow. */
  tuple(): number {
    if (this.#byte() !== code.tuple) throw unreadable()
    return this.#size()
  }

  value(level = 0): unknown {
    const tag = this.#byte()
    switch (tag) {
      case code.none:
        return null
      case code.absent:
        return undefined
      case code.true:
        return true
      case code.false:
        return false
      case code.int:
        return this.#view.getInt32(this.#take(4), true)
      case code.float:
        return this.#view.getFloat64(this.#take(8), true)
      case code.long:
        return this.#long()
      case code.bytes:
        return this.#slice()
      case code.text:
      case code.name:
        return this.#text()
      case code.list:
      case code.tuple:
        return this.#list(level)
      case code.dict:
        return this.#dict(level)
      default:
        throw unreadable()
    }
  }

  #long(): number | bigint {
    const count = this.#view.getInt32(this.#take(4), true)
    const digits = Math.abs(count)
    if (digits > digitsMax) throw new UnfitValue('is an integer beyond 64 bits')
    let value = 0n
    const at = this.#take(digits * 2)
    for (let n = digits - 1; n >= 0; n -= 1) {
      value = (value << 15n) | BigInt(this.#view.getUint16(at + n * 2, true))
    }
    if (count < 0) value = -value
    const asNumber = Number(value)
    return Number.isSafeInteger(asNumber) ? asNumber : value
  }

  #slice(): Uint8Array {
    const size = this.#size()
    const at = this.#take(size)
    return this.#bytes.slice(at, at + size)
  }

  #text(): string {
    const size = this.#size()
    const at = this.#take(size)
    const bytes = this.#bytes
    if (size <= shortLength) {
      let text = ''
      let n = at
      for (; n < at + size; n += 1) {
        const byte = bytes[n] ?? 0
        if (byte > 127) break
        text += String.fromCharCode(byte)
      }
      if (n === at + size) return text
    }
    try {
      return decoder.decode(bytes.subarray(at, at + size))
    } catch {
      throw new UnfitValue('has a lone surrogate')
    }
  }

  #list(level: number): unknown[] {
    const size = this.#size()
    const items: unknown[] = []
    try {
      for (let n = 0; n < size; n += 1) items.push(this.#inner(level))
    } catch (error) {
      throw inside(items.length, error)
    }
    return items
  }

  #dict(level: number): object {
    const members: Record<string, unknown> = {}
    while (this.#bytes[this.#at] !== code.end) {
      const name = this.#inner(level)
      if (typeof name !== 'string') throw invalidArgument('a key is no text')
      const value = this.#member(name, level)
      if (name !== '__proto__') members[name] = value
      else Object.defineProperty(members, name, { ...plainProperty, value })
    }
    this.#at += 1
    return members
  }

  #member(name: string, level: number): unknown {
    try {
      return this.#inner(level)
    } catch (error) {
      throw inside(name, error)
    }
  }

  #inner(level: number): unknown {
    if (level >= levelsMax) throw invalidArgument('a value has more than 64 levels')
    return this.value(level + 1)
  }

  #size(): number {
    const size = this.#view.getInt32(this.#take(4), true)
    // Every item has a byte of its own.
    if (size < 0 || size > this.#end - this.#at) throw unreadable()
    return size
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] ?? 0
  }

  #take(bytes: number): number {
    const at = this.#at
    this.#at += bytes
    if (this.#at > this.#end) throw unreadable()
    return at
  }
}

const plainProperty = { enumerable: true, writable: true, configurable: true }
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const shortLength = 64
const digitsMax = 5
/** One more than a value may have; the first one is the tuple of a message. */
const levelsMax = 66

function unreadable(): Error {
  return invalidArgument('a value has no form outside of Python')
}
