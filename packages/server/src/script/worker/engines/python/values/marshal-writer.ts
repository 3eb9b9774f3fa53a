/**
 * Writes values in the format of Python's own `marshal`, which the interpreter reads in one call
 * and without a line of Python.
 */
export class MarshalWriter {
  #bytes = new Uint8Array(1024)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** What has been written since `start`. It holds until the next `start`. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  start(): this {
    if (this.#bytes.length > keptBytes) this.#replace(new Uint8Array(1024))
    this.#length = 0
    return this
  }

  /** The items follow. */
  tuple(items: number): this {
    this.#tag(code.tuple, items)
    return this
  }

  /** An integer of 32 bits, such as a number of a run. */
  int(value: number): this {
    this.#tag(code.int, value)
    return this
  }

  value(value: unknown): this {
    switch (typeof value) {
      case 'string':
        this.#text(value, false)
        break
      case 'number':
        this.#number(value)
        break
      case 'boolean':
        this.#byte(value ? code.true : code.false)
        break
      case 'bigint':
        this.#long(value)
        break
      case 'object':
        this.#object(value)
        break
      default:
        this.#byte(code.absent)
    }
    return this
  }

  #object(value: object | null): void {
    if (value === null) this.#byte(code.none)
    else if (value instanceof Uint8Array) this.#blob(value)
    else if (Array.isArray(value)) {
      this.#tag(code.list, value.length)
      for (let n = 0; n < value.length; n += 1) this.value(value[n])
    } else {
      this.#byte(code.dict)
      for (const name of Object.keys(value)) {
        const member: unknown = Reflect.get(value, name)
        if (member === undefined) continue
        this.#text(name, true)
        this.value(member)
      }
      this.#byte(code.end)
    }
  }

  /** A number without a fraction that fits 64 bits is an integer. */
  #number(value: number): void {
    if ((value | 0) === value) this.#tag(code.int, value)
    else if (Number.isInteger(value) && Math.abs(value) < longMax) this.#long(BigInt(value))
    else {
      this.#byte(code.float)
      const at = this.#grow(8)
      this.#view.setFloat64(at, value, true)
    }
  }

  #long(value: bigint): void {
    let left = value < 0n ? -value : value
    const digits: number[] = []
    for (; left > 0n; left >>= digitBits) digits.push(Number(left & digitMask))
    this.#tag(code.long, value < 0n ? -digits.length : digits.length)
    for (const digit of digits) {
      const at = this.#grow(2)
      this.#view.setUint16(at, digit, true)
    }
  }

  #text(value: string, isName: boolean): void {
    const { length } = value
    if (length < shortLength && this.#shortText(value, isName)) return
    const at = this.#grow(5 + length * 3)
    this.#bytes[at] = isName ? code.name : code.text
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(at + 5))
    this.#view.setInt32(at + 1, written, true)
    this.#length = at + 5 + written
  }

  /** Most texts are short and have one byte for each character. */
  #shortText(value: string, isName: boolean): boolean {
    const { length } = value
    const at = this.#grow(2 + length)
    const bytes = this.#bytes
    bytes[at] = isName ? code.shortName : code.shortText
    bytes[at + 1] = length
    for (let n = 0; n < length; n += 1) {
      const unit = value.charCodeAt(n)
      if (unit > 127) {
        this.#length = at
        return false
      }
      bytes[at + 2 + n] = unit
    }
    return true
  }

  #blob(value: Uint8Array): void {
    this.#tag(code.bytes, value.length)
    const at = this.#grow(value.length)
    this.#bytes.set(value, at)
  }

  #byte(value: number): void {
    const at = this.#grow(1)
    this.#bytes[at] = value
  }

  #tag(tag: number, size: number): void {
    const at = this.#grow(5)
    this.#bytes[at] = tag
    this.#view.setInt32(at + 1, size, true)
  }

  /** Makes room, and returns where it begins; the bytes may be others afterwards. */
  #grow(bytes: number): number {
    const at = this.#length
    this.#length = at + bytes
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2))
      larger.set(this.#bytes.subarray(0, at))
      this.#replace(larger)
    }
    return at
  }

  #replace(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}

const encoder = new TextEncoder()
const shortLength = 256
const keptBytes = 1_048_576
const longMax = 2 ** 63
const digitBits = 15n
const digitMask = 0x7fffn

/** The first byte of each value. */
export const code = {
  absent: codeOf('.'),
  none: codeOf('N'),
  true: codeOf('T'),
  false: codeOf('F'),
  int: codeOf('i'),
  long: codeOf('l'),
  float: codeOf('g'),
  bytes: codeOf('s'),
  text: codeOf('u'),
  name: codeOf('t'),
  shortText: codeOf('z'),
  shortName: codeOf('Z'),
  tuple: codeOf('('),
  list: codeOf('['),
  dict: codeOf('{'),
  end: codeOf('0'),
} as const

function codeOf(letter: string): number {
  return letter.charCodeAt(0)
}
