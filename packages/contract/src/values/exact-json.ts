/**
 * JSON whose integers keep all 64 bits: what a number cannot hold exactly is a bigint. Balances and
 * scores are such integers.
 */

/** No integer of fewer digits is beyond the safe ones. */
const longDigits = /\d{16}/
const integerLiteral = /^-?\d+$/

/** @example parseExact('{"balance":9223372036854775807}') // { balance: 9223372036854775807n } */
export function parseExact(text: string): unknown {
  return longDigits.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
}

/**
 * Writes a bigint as the integer that it is.
 *
 * @throws TypeError when JSON cannot say the value
 */
export function stringifyExact(value: unknown): string {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  const write = rawJSON ?? ((digits: string) => mark + digits)
  const text: string | undefined = JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? write(String(member)) : member,
  )
  if (text === undefined) throw new TypeError('JSON has no such value')
  return rawJSON === undefined ? text.replaceAll(marked, '$1') : text
}

/** Stands in front of an integer until its quotes are gone, where the runtime lacks rawJSON. */
const mark = '\uE000guildhall-integer:'
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'g')

/** `context` says how a number was written; runtimes that lack it give the nearest number. */
function exactInteger(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const literal = context?.source ?? ''
  return integerLiteral.test(literal) ? BigInt(literal) : value
}
