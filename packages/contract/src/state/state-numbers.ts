import { powersOfTen, stateDecimalsMax } from './state-format.ts'

/** How many decimals numbers are sent with: of all numbers, or of those under these names. */
export type StateDecimals = number | { readonly [name: string]: number }

/** Decimals of the members of a name; an element of an array has those of its array. */
export function createDecimals(
  decimals: StateDecimals | undefined,
): (name: string) => number | undefined {
  if (typeof decimals !== 'object') return () => decimals
  const byName = new Map(Object.entries(decimals))
  return (name) => byName.get(name)
}

/** Half away from zero. Beyond 2^53 tenths, hundredths and so on a number has no decimals. */
export function roundTo(value: number, decimals: number): number {
  const power = powersOfTen[decimals] ?? 1
  const scaled = Math.round(Math.abs(value) * power)
  if (scaled > Number.MAX_SAFE_INTEGER) return value
  return (value < 0 ? -scaled : scaled) / power || 0
}

/** The least e, from `from` on, with which value = m / 10^e exactly; -1 where there is none. */
export function exponentOf(value: number, from: number): number {
  for (let e = from; e <= stateDecimalsMax; e += 1) {
    const power = powersOfTen[e] ?? 1
    const m = Math.round(value * power)
    if (Math.abs(m) > Number.MAX_SAFE_INTEGER) return -1
    if (m / power === value) return e
  }
  return -1
}
