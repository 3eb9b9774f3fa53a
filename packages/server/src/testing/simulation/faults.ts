import type { Random } from '../crash/random.ts'

/** One thing that goes wrong for a while. Nodes are counted from 0. */
export type Fault = {
  kind: (typeof faultKinds)[number]
  atMs: number
  forMs: number
  node: number
  other: number
  amount: number
}

/** How long each may last at most, in milliseconds. */
const longest = {
  'node killed': 9000,
  'node shut down': 6000,
  'node stopped': 15_000,
  'bus cut off': 12_000,
  'nodes apart': 12_000,
  'bus loses': 4000,
  'bus doubles': 4000,
  'bus reorders': 4000,
  'bus is slow': 6000,
  'link overflows': 300,
  'database stalls': 30_000,
  'database stalls for one': 30_000,
  'database fails': 8000,
  'database is mute': 5000,
  'clock jumps': 1,
} as const

export const faultKinds = Object.keys(longest) as (keyof typeof longest)[]

const dayMs = 86_400_000

/** So many faults within a time, by chance. */
export function chooseFaults(
  random: Random,
  { count, runMs, nodes }: { count: number; runMs: number; nodes: number },
): Fault[] {
  const faults = Array.from({ length: count }, (): Fault => {
    const kind = random.pick(faultKinds) ?? 'node killed'
    const node = random.below(nodes)
    return {
      ...{ kind, node, other: (node + 1 + random.below(nodes - 1)) % nodes },
      atMs: Math.round(1000 + random.fraction() * (runMs - 1000)),
      forMs: Math.round(50 + random.fraction() * longest[kind]),
      amount: random.fraction(),
    }
  })
  return faults.toSorted((a, b) => a.atMs - b.atMs)
}

/** A clock goes forward or back by up to a day. */
export function jumpMs({ amount }: Fault): number {
  return Math.round((2 * amount - 1) * dayMs)
}

export function describeFault({ kind, atMs, forMs, node, other, amount }: Fault): string {
  const whom = kind === 'nodes apart' ? `${node} and ${other}` : `${node}`
  return `${atMs} ms: ${kind}, node ${whom}, ${forMs} ms, ${amount.toFixed(2)}`
}

/**
 * The fewest of the faults with which a run still fails, by leaving out more and more of them
 * (delta debugging). `fails` is asked at most `triesMax` times.
 */
export async function shorten(
  faults: readonly Fault[],
  fails: (faults: readonly Fault[]) => Promise<boolean>,
  triesMax = 200,
): Promise<readonly Fault[]> {
  let kept = faults
  let tries = 0
  for (let size = Math.ceil(kept.length / 2); size >= 1; ) {
    const before = kept.length
    for (let from = 0; from < kept.length && tries < triesMax; ) {
      const fewer = [...kept.slice(0, from), ...kept.slice(from + size)]
      tries += 1
      if (await fails(fewer)) kept = fewer
      else from += size
    }
    if (size === 1 && kept.length === before) break
    size = size === 1 ? 1 : Math.ceil(size / 2)
    if (tries >= triesMax) break
  }
  return kept
}
