import { int64Max, int64Min, type Json, type JsonObject } from '@guildhall/contract'

/**
 * Reads one JSON text more exactly than `JSON.parse`: integers keep all 64 bits, nesting is
 * bounded, unpaired surrogates are refused, and two things that the parsed value no longer shows
 * are reported beside it, because whether they matter depends on the schema.
 */
export function readJson(text: string): JsonReading {
  return new Reader(text).read()
}

export type JsonReading = {
  value: Json
  /** Empty for nearly every text. */
  oddities: readonly Oddity[]
}

/** A repeated member name, or a whole number written with a fraction or an exponent. */
export type Oddity = {
  kind: 'repeated name' | 'not an integer literal'
  path: readonly (string | number)[]
}

/** Thrown for a text that is not one JSON value within the bounds; the message names the rule. */
export class JsonRefusal extends Error {
  override readonly name = 'JsonRefusal'
}

/** Objects and arrays within each other. */
const depthMax = 64

const space = /[ \t\n\r]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings must not hold them raw.
const plainRun = /[^"\\\u0000-\u001f]*/y
const numberLiteral = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y
const unicodeEscape = /[0-9a-fA-F]{4}/y

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

class Reader {
  readonly #text: string
  readonly #path: (string | number)[] = []
  readonly #oddities: Oddity[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): JsonReading {
    this.#skipSpace()
    const value = this.#value()
    this.#skipSpace()
    if (this.#at < this.#text.length) throw new JsonRefusal('is more than one JSON value')
    return { value, oddities: this.#oddities }
  }

  #value(): Json {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b: // {
        return this.#object()
      case 0x5b: // [
        return this.#array()
      case 0x22: // "
        return this.#string()
      case 0x74: // t
        return this.#word('true', true)
      case 0x66: // f
        return this.#word('false', false)
      case 0x6e: // n
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #object(): JsonObject {
    const object: JsonObject = {}
    this.#enter()
    if (this.#take('}')) return this.#leave(object)
    do {
      this.#skipSpace()
      const name = this.#string()
      this.#skipSpace()
      this.#expect(':')
      this.#skipSpace()
      this.#path.push(name)
      if (Object.hasOwn(object, name)) this.#note('repeated name')
      const value = this.#value()
      this.#path.pop()
      setOwn(object, name, value)
      this.#skipSpace()
    } while (this.#take(','))
    this.#expect('}')
    return this.#leave(object)
  }

  #array(): Json[] {
    const array: Json[] = []
    this.#enter()
    if (this.#take(']')) return this.#leave(array)
    do {
      this.#skipSpace()
      this.#path.push(array.length)
      array.push(this.#value())
      this.#path.pop()
      this.#skipSpace()
    } while (this.#take(','))
    this.#expect(']')
    return this.#leave(array)
  }

  #depth = 0

  #enter(): void {
    this.#depth += 1
    if (this.#depth > depthMax) throw new JsonRefusal(`is more than ${depthMax} levels deep`)
    this.#at += 1
    this.#skipSpace()
  }

  #leave<T>(container: T): T {
    this.#depth -= 1
    return container
  }

  #string(): string {
    this.#expect('"')
    let text = this.#match(plainRun)
    let escaped = false
    while (!this.#take('"')) {
      this.#expect('\\')
      escaped = true
      text += this.#escape() + this.#match(plainRun)
    }
    if (escaped && !text.isWellFormed()) throw new JsonRefusal('has an unpaired surrogate')
    return text
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? ''
    this.#at += 1
    const short = shortEscapes[letter]
    if (short !== undefined) return short
    const digits = letter === 'u' ? this.#match(unicodeEscape) : ''
    if (digits === '') throw new JsonRefusal('is not valid JSON')
    return String.fromCharCode(Number.parseInt(digits, 16))
  }

  #number(): number | bigint {
    numberLiteral.lastIndex = this.#at
    const match = numberLiteral.exec(this.#text)
    if (match === null) throw new JsonRefusal('is not valid JSON')
    this.#at = numberLiteral.lastIndex
    const value = Number(match[0])
    if (!Number.isFinite(value)) throw new JsonRefusal('has a number out of range')
    if (match[1] !== undefined || match[2] !== undefined) {
      if (Number.isInteger(value)) this.#note('not an integer literal')
      return value
    }
    return Number.isSafeInteger(value) ? value + 0 : exactInteger(match[0], value)
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw new JsonRefusal('is not valid JSON')
    this.#at += word.length
    return value
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #skipSpace(): void {
    const unit = this.#text.charCodeAt(this.#at)
    if (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) this.#match(space)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw new JsonRefusal('is not valid JSON')
  }

  #note(kind: Oddity['kind']): void {
    this.#oddities.push({ kind, path: [...this.#path] })
  }
}

/** Beyond 2^53 - 1 an integer keeps its digits within 64 bits, else it is the nearest double. */
function exactInteger(literal: string, nearest: number): number | bigint {
  if (literal.length > 20) return nearest
  const exact = BigInt(literal)
  return exact >= int64Min && exact <= int64Max ? exact : nearest
}

/** An assignment to `__proto__` would set the prototype instead of a member. */
function setOwn(object: JsonObject, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}
