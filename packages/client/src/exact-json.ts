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

/** Writes a bigint as the integer that it is. */
export function stringifyExact(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? rawInteger(member) : member,
  )
}

/** `context` tells how a number was written; runtimes that lack it give the nearest number. */
function exactInteger(_name: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  const literal = context?.source ?? ''
  return integerLiteral.test(literal) ? BigInt(literal) : value
}

function rawInteger(value: bigint): unknown {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown }
  if (rawJSON === undefined) throw new TypeError('this runtime cannot write 64-bit integers')
  return rawJSON(String(value))
}
