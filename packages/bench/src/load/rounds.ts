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
  options: { rounds: number; warmUps?: number },
): Promise<Comparison<Product, Baseline>> {
  type Outcomes = { baseline: Baseline; product: Product }
  return comparisonOf(await playInTurn<Outcomes>({ baseline, product }, options), ratioOf)
}

/** The same of any number of sides; every other round has them in the opposite order. */
export async function playInTurn<Outcomes extends object>(
  sides: { [Name in keyof Outcomes]: () => Promise<Outcomes[Name]> },
  { rounds, warmUps = 1 }: { rounds: number; warmUps?: number },
): Promise<Outcomes[]> {
  const names = Object.keys(sides) as (keyof Outcomes)[]
  const counted: Outcomes[] = []
  for (let round = 0; round < warmUps + rounds; round += 1) {
    const outcomes: Partial<Outcomes> = {}
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      outcomes[name] = await sides[name]()
    }
    if (round >= warmUps) counted.push(outcomes as Outcomes)
  }
  return counted
}

/** Of two sides, within each of the rounds that they were played in. */
export function comparisonOf<Product, Baseline>(
  played: readonly { product: Product; baseline: Baseline }[],
  ratioOf: (product: Product, baseline: Baseline) => number,
): Comparison<Product, Baseline> {
  const rounds = played.map(({ product, baseline }) => {
    return { product, baseline, ratio: ratioOf(product, baseline) }
  })
  return { ...middleOf(rounds, ({ ratio }) => ratio), rounds }
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
