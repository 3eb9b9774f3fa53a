/** Choices that the same seed makes again. */
export type Random = {
  /** From 0 up to 1. */
  fraction(): number
  /** From 0 up to `end`, both whole; `end` is not among them. */
  below(end: number): number
  chance(probability: number): boolean
  /** Any of them; undefined when there are none. */
  pick<T>(from: readonly T[]): T | undefined
}

/** The generator mulberry32: small, and random enough for a load. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(fraction() * end)
  return {
    fraction,
    below,
    chance: (probability) => fraction() < probability,
    pick: (from) => from[below(from.length)],
  }
}
