import { parseExact } from '@guildhall/contract'
import { copyJson, expectText, toJson } from '../arguments.ts'
import { invalidArgument } from '../errors.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const { isArray } = Array
const { entries, values } = Object
const levelsMax = 64

/** `json.encode` and `json.decode`, which are the same in every language. */
export const jsonBindings = {
  'json.encode': (value: unknown): Uint8Array =>
    encoder.encode(toJson(copyJson('json.encode', value, 'value')) ?? 'null'),
  'json.decode'(body: unknown): unknown {
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
      throw invalidArgument('json.decode: body must be bytes or a string')
    }
    const value = read(body)
    if (levelsOf(value) > levelsMax) throw invalidArgument('json.decode: more than 64 levels')
    return value
  },
}

function read(body: string | Uint8Array): unknown {
  try {
    const text = typeof body === 'string' ? body : decoder.decode(body)
    const value: unknown = parseExact(text)
    if (surrogate.test(text)) expectTexts(value)
    return value
  } catch {
    throw invalidArgument('json.decode: body is not JSON')
  }
}

/** One in the text itself, or an escape of one, which may be half of a character. */
const surrogate = /[\ud800-\udfff]|\\u[dD][89a-fA-F]/

function expectTexts(value: unknown): void {
  if (typeof value === 'string') expectText(value)
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of entries(value)) {
      expectText(name)
      expectTexts(member)
    }
  }
}

/** How deep a value is; it stops to count soon after the most. */
function levelsOf(value: unknown, above = 0): number {
  if (typeof value !== 'object' || value === null) return above
  const level = above + 1
  if (level > levelsMax) return level
  let deepest = level
  const members: unknown[] = isArray(value) ? value : values(value)
  for (let n = 0; n < members.length; n += 1) {
    const found = levelsOf(members[n], level)
    if (found > deepest) deepest = found
  }
  return deepest
}
