/** What a part of a built file takes in the array of all parts. */
const numbersOfPart = 4

/**
 * Where the parts of a built file were written, by its source map. `SourceMap` of Node.js makes an
 * object of each of them, which stopped a node for 0.3 s at its first error.
 */
export class BuiltMap {
  readonly #sources: readonly string[]
  /** Of each part in its order: line and column in the built file, source, and line there. */
  readonly #parts: Int32Array

  constructor(text: string) {
    const { sources, mappings } = JSON.parse(text)
    this.#sources = sources
    this.#parts = partsOf(mappings)
  }

  /** All lines and columns count from 0. Undefined where nothing was written. */
  find(line: number, column: number): { source: string; line: number } | undefined {
    let [low, high] = [0, this.#parts.length / numbersOfPart]
    while (low < high) {
      const middle = (low + high) >> 1
      const [at = 0, from = 0] = this.#part(middle)
      if (at < line || (at === line && from <= column)) low = middle + 1
      else high = middle
    }
    if (low === 0) return undefined
    const [, , place = -1, written = 0] = this.#part(low - 1)
    const source = this.#sources[place]
    return source === undefined ? undefined : { source, line: written }
  }

  #part(index: number): Int32Array {
    return this.#parts.subarray(index * numbersOfPart, (index + 1) * numbersOfPart)
  }
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const digits = new Uint8Array(128)
for (let digit = 0; digit < base64.length; digit += 1) digits[base64.charCodeAt(digit)] = digit
const comma = ','.charCodeAt(0)
const semicolon = ';'.charCodeAt(0)

/** Each field of a part is the difference to the same one of the part before, in base64. */
function partsOf(mappings: string): Int32Array {
  // A part has one character at least, and another one behind it.
  const parts = new Int32Array(numbersOfPart * Math.ceil((mappings.length + 1) / 2))
  /** Column, source, line and column there, and name. */
  const sums = new Int32Array(5)
  let [line, field, value, shift, length] = [0, 0, 0, 0, 0]
  for (let at = 0; at <= mappings.length; at += 1) {
    const code = at < mappings.length ? mappings.charCodeAt(at) : semicolon
    if (code === comma || code === semicolon) {
      if (field > 0) {
        parts[length] = line
        parts[length + 1] = sums[0] ?? 0
        parts[length + 2] = field < 4 ? -1 : (sums[1] ?? 0)
        parts[length + 3] = sums[2] ?? 0
        length += numbersOfPart
      }
      field = 0
      if (code === semicolon) {
        line += 1
        sums[0] = 0
      }
      continue
    }
    const digit = digits[code] ?? 0
    value += (digit & 31) << shift
    shift += 5
    if ((digit & 32) !== 0) continue
    sums[field] = (sums[field] ?? 0) + ((value & 1) === 0 ? value >> 1 : -(value >> 1))
    field += 1
    value = 0
    shift = 0
  }
  return parts.slice(0, length)
}
