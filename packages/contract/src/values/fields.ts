import { z } from 'zod'
import type { Json, JsonObject } from './json.ts'

/** Length of a text in bytes of UTF-8, as all bounds count it. Unpaired surrogates count 3. */
export function utf8Bytes(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4
      i += 1
    } else bytes += 3
  }
  return bytes
}

/** U+0000 to U+001F and U+007F to U+009F. */
export function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) return true
  }
  return false
}

/** Nothing but white space as Unicode has it, or nothing at all. */
export function isBlank(text: string): boolean {
  return !notWhiteSpace.test(text)
}

/**
 * The text without the white space at its ends. `String.trim` has another notion of that: it takes
 * the byte order mark U+FEFF for white space, which Unicode does not, and leaves U+0085.
 */
export function trimmed(text: string): string {
  const start = text.search(notWhiteSpace)
  if (start < 0) return ''
  let end = text.length
  // One character at a time: a pattern for the end would look from every space in between.
  while (!notWhiteSpace.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

const notWhiteSpace = /\P{White_Space}/u

/**
 * A name that people see: not blank, no control characters, at most `bytesMax` bytes, kept as sent.
 */
export const label = shared((bytesMax: number) =>
  text(
    (value) => fits(value, bytesMax) && !isBlank(value) && !hasControlCharacter(value),
    `must be 1..${bytesMax} bytes, not blank and without control characters`,
    { minLength: 1, maxLength: bytesMax },
  ),
)

/**
 * An address within a collection: not empty, no control characters; white space alone is allowed.
 */
export const key = shared((bytesMax: number) =>
  text(
    (value) => value !== '' && fits(value, bytesMax) && !hasControlCharacter(value),
    `must be 1..${bytesMax} bytes without control characters`,
    { minLength: 1, maxLength: bytesMax },
  ),
)

/** Any other identifying string: at most `bytesMax` bytes and no U+0000; it may be empty. */
export const reference = shared((bytesMax: number = 1024) =>
  text(
    (value) => fits(value, bytesMax) && !value.includes('\0'),
    `must be at most ${bytesMax} bytes without U+0000`,
    { maxLength: bytesMax },
  ),
)

/** A reference that is not blank. */
export const presentReference = shared((bytesMax: number = 1024) =>
  text(
    (value) => fits(value, bytesMax) && !value.includes('\0') && !isBlank(value),
    `must be 1..${bytesMax} bytes, not blank and without U+0000`,
    { minLength: 1, maxLength: bytesMax },
  ),
)

/** Unix milliseconds, 0 to 2^53 - 1. */
export const unixMs = z.int().min(0).meta({ description: 'Unix milliseconds' })

/** A count or another non-negative integer up to 2^53 - 1. */
export const count = z.int().min(0)

/** A page size in a query: decimal digits, clamped to 1..`cap`. */
export const limit = shared(({ default: fallback, cap }: { default: number; cap: number }) =>
  decimalText('must be a decimal integer')
    .transform((digits) => Math.min(Math.max(Number(digits), 1), cap))
    .default(fallback)
    .meta({ jsonSchema: { type: 'integer', minimum: 1, maximum: cap, default: fallback } }),
)

/** 1 to `itemsMax` values of a query in one text, between commas. */
export function listOf(item: z.ZodType<string, string>, itemsMax: number) {
  const rule = `must be 1..${itemsMax} values between commas`
  return z
    .string()
    .transform((values) => values.split(','))
    .pipe(z.array(item, { error: rule }).max(itemsMax, { error: rule }))
    .meta({ jsonSchema: { type: 'string', minLength: 1, description: rule } })
}

/** A JSON object whose members are the caller's own: kept with exact 64-bit integers. */
export const freeObject = z
  .custom<JsonObject>(isFreeObject, { error: 'must be an object' })
  .meta({ jsonSchema: { type: 'object', additionalProperties: true }, free: true })

/** Any JSON value that is the caller's own. */
export const freeJson = z
  .custom<Json>(() => true)
  .meta({ jsonSchema: { description: 'Any JSON value' }, free: true })

/**
 * Makes what such a function gives for the same arguments one schema: there are a thousand fields,
 * and few rules.
 */
export function shared<A extends readonly unknown[], S>(make: (...given: A) => S) {
  const made = new Map<string, S>()
  return (...given: A): S => {
    const key = JSON.stringify(given)
    const known = made.get(key) ?? make(...given)
    made.set(key, known)
    return known
  }
}

/** Null and absent mean the same: the output has the value or nothing. */
export function optional<S extends z.ZodType>(schema: S) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/**
 * A string that passes `holds`; `rule` completes the sentence "<field> ..." of a refusal. Unpaired
 * surrogates are refused, which no request can have but a script's string can: they have no bytes
 * of UTF-8, so that a database would store another text.
 */
export function text(
  holds: (value: string) => boolean,
  rule: string,
  bounds: { minLength?: number; maxLength?: number; pattern?: string } = {},
) {
  return z
    .string()
    .refine((value) => value.isWellFormed() && holds(value), { error: rule })
    .meta({ jsonSchema: { type: 'string', ...bounds, description: rule } })
}

function decimalText(rule: string) {
  return z.string().regex(/^[0-9]+$/, { error: rule })
}

/** The cheap comparison first: no text has fewer bytes than UTF-16 units. */
function fits(value: string, bytesMax: number): boolean {
  return value.length <= bytesMax && utf8Bytes(value) <= bytesMax
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

function isFreeObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !ArrayBuffer.isView(value)
}
