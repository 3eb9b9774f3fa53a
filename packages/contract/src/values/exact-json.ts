/**
 * JSON whose integers keep all 64 bits: what a number cannot hold exactly is a bigint, and beyond
 * 64 bits the nearest number. Balances and scores are such integers.
 */

/** Of an integer of 64 bits, with its sign. */
const int64Digits = 20
/** No integer of fewer digits is beyond the safe ones. */
const longDigits = /\d{16}/
const integerLiteral = /^-?\d+$/

/** @example parseExact('{"balance":9223372036854775807}') // { balance: 9223372036854775807n } */
export function parseExact(text: string): unknown {
  return longDigits.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
}

/**
 * Writes a bigint as the integer that it is, and everything else as `JSON.stringify` does.
 *
 * @throws TypeError when JSON cannot say the value
 */
export function stringifyExact(value: unknown): string {
  const text = stringifyPlain(value) ?? stringifyIntegers(value)
  if (text === undefined) throw new TypeError('JSON has no such value')
  return text
}

/** Undefined for what has a bigint in it, which few values have: the other way is far slower. */
function stringifyPlain(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function stringifyIntegers(value: unknown): string | undefined {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  const write = rawJSON ?? ((digits: string) => mark + digits)
  const text: string | undefined = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? write(String(member)) : member,
  )
  return rawJSON === undefined ? text?.replaceAll(marked, '$1') : text
}

/** Stands in front of an integer until its quotes are gone, where the runtime lacks rawJSON. */
const mark = '\uE000guildhall-integer:'
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/** `context` says how a number was written; runtimes that lack it give the nearest number. */
function exactInteger(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const literal = context?.source ?? ''
  if (literal.length > int64Digits || !integerLiteral.test(literal)) return value
  const exact = BigInt(literal)
  return BigInt.asIntN(64, exact) === exact ? exact : value
}
