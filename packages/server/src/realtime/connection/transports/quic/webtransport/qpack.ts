import { decodeHuffman } from './huffman.ts'

/** Thrown for a header block that cannot be read. */
export class HeadersBroken extends Error {
  override readonly name = 'HeadersBroken'
}

type Field = readonly [name: string, value: string]

/**
 * The lines of the static table that speak of a request for a session, by number. The others have
 * no meaning here, and their values are read over.
 */
const staticFields: ReadonlyMap<number, Field> = new Map([
  [0, [':authority', '']],
  [1, [':path', '/']],
  [15, [':method', 'CONNECT']],
  [16, [':method', 'DELETE']],
  [17, [':method', 'GET']],
  [18, [':method', 'HEAD']],
  [19, [':method', 'OPTIONS']],
  [20, [':method', 'POST']],
  [21, [':method', 'PUT']],
  [22, [':scheme', 'http']],
  [23, [':scheme', 'https']],
  [24, [':status', '103']],
  [90, ['origin', '']],
])
const staticFieldsMax = 99
const statusName = 24

/**
 * Decodes a header block. The node lets its peers build no table, so only the static one occurs.
 *
 * @throws HeadersBroken
 */
export function decodeHeaders(block: Uint8Array): Map<string, string> {
  const reader = new Reader(block)
  if (reader.integer(8) !== 0) throw new HeadersBroken('a table that is not there')
  reader.integer(7)
  const headers = new Map<string, string>()
  while (!reader.isAtEnd) {
    const [name, value] = readField(reader)
    headers.set(name, value)
  }
  return headers
}

function readField(reader: Reader): Field {
  const first = reader.peek()
  if ((first & 0xc0) === 0xc0) return staticField(reader.integer(6))
  if ((first & 0xf0) === 0x50 || (first & 0xf0) === 0x70) {
    const [name] = staticField(reader.integer(4))
    return [name, reader.text(7)]
  }
  if ((first & 0xe0) === 0x20) return [reader.text(3), reader.text(7)]
  throw new HeadersBroken('a table that is not there')
}

function staticField(number: number): Field {
  if (number >= staticFieldsMax) throw new HeadersBroken('no such line of the static table')
  return staticFields.get(number) ?? [`#${number}`, '']
}

/** The header block of an answer. */
export function encodeAnswer(status: number, headers: readonly Field[] = []): Uint8Array {
  const lines = headers.flatMap(([name, value]) => [
    ...integer(name.length, 3, 0x20),
    ...Buffer.from(name),
    ...integer(value.length, 7, 0),
    ...Buffer.from(value),
  ])
  const code = Buffer.from(String(status))
  const line = [...integer(statusName, 4, 0x50), ...integer(code.length, 7, 0), ...code]
  return Uint8Array.from([0, 0, ...line, ...lines])
}

/** An integer in the low bits of its first byte, whose other bits are `flags`. */
function integer(value: number, bits: number, flags: number): number[] {
  const max = 2 ** bits - 1
  if (value < max) return [flags | value]
  const bytes = [flags | max]
  let rest = value - max
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80)
    rest >>= 7
  }
  return [...bytes, rest]
}

class Reader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  peek(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new HeadersBroken('it ends too early')
    return byte
  }

  integer(bits: number): number {
    const max = 2 ** bits - 1
    let value = this.#byte() & max
    if (value < max) return value
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new HeadersBroken('a number that is too large')
  }

  /** A text behind its length; the bit above the length says that it is a Huffman code. */
  text(bits: number): string {
    const isHuffman = (this.peek() & (1 << bits)) !== 0
    const length = this.integer(bits)
    const end = this.#at + length
    if (end > this.#bytes.length) throw new HeadersBroken('it ends too early')
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    const text = isHuffman ? decodeHuffman(bytes) : Buffer.from(bytes).toString('latin1')
    if (text === undefined) throw new HeadersBroken('no Huffman code')
    return text
  }

  #byte(): number {
    const byte = this.peek()
    this.#at += 1
    return byte
  }
}
