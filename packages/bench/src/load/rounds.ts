/** What product and baseline came to, one right after the other. */
type Round<Product, Baseline> = { product: Product; baseline: Baseline; ratio: number }

/** The round in the middle by its ratio, and all of them as they were played. */
export type Comparison<Product, Baseline> = Round<Product, Baseline> & {
  rounds: readonly Round<Product, Baseline>[]
}

type Sides<Product, Baseline> = {
  product: () => Promise<Product>
  baseline: () => Promise<Baseline>
  ratioOf: (product: Product, baseline: Baseline) => number
}

/**
 * Runs product and baseline in turn, round by round, so that whatever else the machine does
 * disturbs both alike; every other round begins with the product. They are compared within each
 * round. The first `warmUps` rounds are played and not counted.
 */
export async function compareInTurn<Product, Baseline>(
  { product, baseline, ratioOf }: Sides<Product, Baseline>,
  { rounds, warmUps = 1 }: { rounds: number; warmUps?: number },
): Promise<Comparison<Product, Baseline>> {
  const counted: Round<Product, Baseline>[] = []
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const early = round % 2 === 0 ? undefined : await product()
    const theirs = await baseline()
    const ours = early ?? (await product())
    if (round < warmUps) continue
    counted.push({ product: ours, baseline: theirs, ratio: ratioOf(ours, theirs) })
  }
  return { ...middleOf(counted, ({ ratio }) => ratio), rounds: counted }
}

/** The one in the middle by what `figure` says; of an even number the upper one of the two. */
export function middleOf<T>(all: readonly T[], figure: (each: T) => number): T {
  const middle = all.toSorted((a, b) => figure(a) - figure(b))[all.length >> 1]
  if (middle === undefined) throw new Error('nothing has no middle')
  return middle
}

/** E.g. `ratios 0.82, 0.85, 0.81`, in the order in which they were played. */
export function ratios({ rounds }: Comparison<unknown, unknown>): string {
  return `ratios ${rounds.map(({ ratio }) => ratio.toFixed(2)).join(', ')}`
}
