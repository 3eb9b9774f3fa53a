/**
 * Messages between nodes, as bytes. A field says how a value is written and how it is read; reading
 * trusts nothing, since whatever reaches the bus reaches the reader.
 */
export type Field<Value> = {
  write(out: WireWriter, value: Value): void
  /** @throws BadMessage for bytes that are no such value; nothing else is ever thrown */
  read(from: WireReader): Value
}

/** The value that a field reads. */
export type ValueOf<F> = F extends Field<infer Value> ? Value : never

/** Thrown for bytes that are no message. */
export class BadMessage extends Error {
  override readonly name = 'BadMessage'
}

export class WireWriter {
  #bytes = Buffer.allocUnsafe(256)
  #length = 0

  u8(value: number): void {
    const at = this.#extend(1)
    this.#bytes.writeUInt8(value, at)
  }

  u32(value: number): void {
    const at = this.#extend(4)
    this.#bytes.writeUInt32BE(value, at)
  }

  /** An exact number from 0 on: an id, a time, a count. */
  whole(value: number): void {
    const at = this.#extend(8)
    this.#bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at)
    this.#bytes.writeUInt32BE(value % 2 ** 32, at + 4)
  }

  /** A number from 0 on, in as few bytes as it needs. */
  varint(value: number): void {
    let left = value
    while (left > 0x7f) {
      this.u8((left % 0x80) | 0x80)
      left = Math.floor(left / 0x80)
    }
    this.u8(left)
  }

  bytes(value: Uint8Array): void {
    const at = this.#extend(value.length)
    this.#bytes.set(value, at)
  }

  /** As UTF-8, behind the count of its bytes. */
  text(value: string): void {
    const count = Buffer.byteLength(value)
    this.varint(count)
    const at = this.#extend(count)
    this.#bytes.write(value, at, count)
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #extend(size: number): number {
    const at = this.#length
    this.#length += size
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, at))
      this.#bytes = larger
    }
    return at
  }
}

export class WireReader {
  readonly #bytes: Buffer
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.#bytes.length - this.#offset
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#take(1))
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#take(4))
  }

  whole(): number {
    const at = this.#take(8)
    const value = this.#bytes.readUInt32BE(at) * 2 ** 32 + this.#bytes.readUInt32BE(at + 4)
    if (!Number.isSafeInteger(value)) throw new BadMessage('a number above 2^53 - 1')
    return value
  }

  varint(): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 49; scale *= 0x80) {
      const byte = this.u8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw new BadMessage('a number that does not end')
  }

  /** A view of the next bytes. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count)
    return this.#bytes.subarray(at, at + count)
  }

  text(count: number): string {
    const at = this.#take(count)
    const end = at + count
    // Most are ids, which need no decoder.
    for (let byte = at; byte < end; byte += 1) {
      if ((this.#bytes[byte] ?? 0) > 0x7f) return decodeUtf8(this.#bytes.subarray(at, end))
    }
    return this.#bytes.toString('latin1', at, end)
  }

  #take(count: number): number {
    const at = this.#offset
    if (count > this.left) throw new BadMessage('a message that ends too early')
    this.#offset = at + count
    return at
  }
}

export const u8: Field<number> = {
  write: (out, value) => out.u8(value),
  read: (from) => from.u8(),
}

export const u32: Field<number> = {
  write: (out, value) => out.u32(value),
  read: (from) => from.u32(),
}

export const whole: Field<number> = {
  write: (out, value) => out.whole(value),
  read: (from) => from.whole(),
}

export const varint: Field<number> = {
  write: (out, value) => out.varint(value),
  read: (from) => from.varint(),
}

export const flag: Field<boolean> = {
  write: (out, value) => out.u8(value ? 1 : 0),
  read(from) {
    const value = from.u8()
    if (value > 1) throw new BadMessage('a flag that is neither 0 nor 1')
    return value === 1
  },
}

export const bytes: Field<Uint8Array> = {
  write(out, value) {
    out.varint(value.length)
    out.bytes(value)
  },
  read: (from) => from.bytes(from.varint()),
}

export const text: Field<string> = {
  write: (out, value) => out.text(value),
  read: (from) => from.text(from.varint()),
}

/** Any JSON value, as text. */
export const json: Field<unknown> = {
  write: (out, value) => text.write(out, JSON.stringify(value)),
  read(from) {
    const written = text.read(from)
    try {
      return JSON.parse(written)
    } catch {
      throw new BadMessage('a text that is no JSON')
    }
  },
}

/** A field whose values are good only if `isGood` says so; `what` a bad one is. */
export function checked<Value>(
  field: Field<Value>,
  isGood: (value: Value) => boolean,
  what: string,
): Field<Value> {
  return {
    write: field.write,
    read(from) {
      const value = field.read(from)
      if (!isGood(value)) throw new BadMessage(what)
      return value
    },
  }
}

export function oneOf<const Value extends string>(...values: Value[]): Field<Value> {
  return {
    write: (out, value) => out.u8(values.indexOf(value)),
    read(from) {
      const value = values[from.u8()]
      if (value === undefined) throw new BadMessage('an unknown value')
      return value
    },
  }
}

export function nullable<Value>(field: Field<Value>): Field<Value | null> {
  return {
    write(out, value) {
      flag.write(out, value !== null)
      if (value !== null) field.write(out, value)
    },
    read: (from) => (flag.read(from) ? field.read(from) : null),
  }
}

export function list<Value>(field: Field<Value>): Field<Value[]> {
  return {
    write(out, values) {
      out.varint(values.length)
      for (const value of values) field.write(out, value)
    },
    read(from) {
      const count = from.varint()
      // Every value takes a byte at least, so a count that lies costs nothing.
      if (count > from.left) throw new BadMessage('a list that ends too early')
      const values: Value[] = []
      for (let at = 0; at < count; at += 1) values.push(field.read(from))
      return values
    },
  }
}

type Fields = Readonly<Record<string, Field<unknown>>>
type Struct<F extends Fields> = { [K in keyof F]: ValueOf<F[K]> }

/** The fields one after another, in the order in which they are declared. */
export function struct<F extends Fields>(fields: F): Field<Struct<F>> {
  const entries = Object.entries(fields) as [string, Field<unknown>][]
  return {
    write(out, value) {
      for (const [name, field] of entries) field.write(out, value[name])
    },
    read(from) {
      const value: Record<string, unknown> = {}
      for (const [name, field] of entries) value[name] = field.read(from)
      return value as Struct<F>
    },
  }
}

/** One of several messages, known by the place of its name in the table. */
export type Message<Table extends Readonly<Record<string, Field<unknown>>>> = {
  [Name in keyof Table & string]: { type: Name } & ValueOf<Table[Name]>
}[keyof Table & string]

export function union<Table extends Readonly<Record<string, Field<unknown>>>>(
  table: Table,
): Field<Message<Table>> {
  const names = Object.keys(table)
  const fields = Object.values(table) as unknown as Field<object>[]
  return {
    write(out, value) {
      const at = names.indexOf(value.type)
      out.u8(at)
      fields[at]?.write(out, value)
    },
    read(from) {
      const at = from.u8()
      const [type, field] = [names[at], fields[at]]
      if (field === undefined) throw new BadMessage('a message of an unknown type')
      return { type, ...field.read(from) } as Message<Table>
    },
  }
}

export function encode<Value>(field: Field<Value>, value: Value): Uint8Array {
  const out = new WireWriter()
  field.write(out, value)
  return out.finish()
}

/** @throws BadMessage when the bytes are not exactly one such value */
export function decode<Value>(field: Field<Value>, bytes: Uint8Array): Value {
  const from = new WireReader(bytes)
  const value = field.read(from)
  if (from.left > 0) throw new BadMessage('bytes behind the message')
  return value
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw new BadMessage('a text that is no UTF-8')
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
