/**
 * Texts that sort by bytes as the values do: booleans before numbers before texts, numbers exactly,
 * also where an integer of 64 bits and a float are equal but for the last digits. No text extends
 * another one by U+0001, so what is behind all entries of a value begins with the text and that.
 */
export type Direction = {
  /** The field of the entries; no declared field begins with a sign. */
  fieldOf(field: string): string
  textOf(value: unknown): string
  /** What the texts of a type begin with, and what none of them and of those before it reaches. */
  prefixOf(value: unknown): readonly [from: string, below: string]
}

/** Greater than every text of either direction. */
export const aboveAll = '~'

/** Behind the texts of a value, before those of all that follow. */
export function behind(text: string): string {
  return `${text}\u0001`
}

export const ascending: Direction = {
  fieldOf: (field) => `+${field}`,
  textOf(value) {
    if (typeof value === 'string') return `s${escaped(value)}`
    return typeof value === 'boolean' ? `b${value ? 1 : 0}` : `n${sortable(value)}`
  },
  prefixOf: (value) => (typeof value === 'string' ? ['s', 't'] : ['n', 'o']),
}

/** Ascends where the values descend; a longer text comes before what it begins with. */
export const descending: Direction = {
  fieldOf: (field) => `-${field}`,
  textOf(value) {
    if (typeof value === 'string') return `a${complement(Buffer.from(value).toString('hex'))}~`
    return typeof value === 'boolean' ? `c${value ? 0 : 1}` : `b${complement(sortable(value))}`
  },
  prefixOf: (value) => (typeof value === 'string' ? ['a', 'b'] : ['b', 'c']),
}

export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** No column takes U+0000. */
function escaped(text: string): string {
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001')
}

/** 20 hex digits: those of the nearest float, and how far the integer lies beside it. */
function sortable(value: unknown): string {
  // Zero has two signs, and they are equal.
  const float = Number(value) + 0
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(float)
  const bits = bytes.readBigUInt64BE()
  const isNegative = bits >> 63n === 1n
  const sorted = isNegative ? ~bits & allBits : bits | topBit
  const beside = typeof value === 'bigint' ? value - BigInt(float) : 0n
  return hex(sorted, 16) + hex(besideZero + clamped(beside), 4)
}

const topBit = 1n << 63n
const allBits = (1n << 64n) - 1n
/** An integer of 64 bits lies at most 512 beside its nearest float. */
const besideZero = 0x8000n

/** A bound of a query may have more than 64 bits; a value never has. */
function clamped(beside: bigint): bigint {
  if (beside > 0x7fffn) return 0x7fffn
  return beside < -besideZero ? -besideZero : beside
}

function hex(bits: bigint, digits: number): string {
  return bits.toString(16).padStart(digits, '0')
}

function complement(digits: string): string {
  return digits.replace(/./g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))
}
