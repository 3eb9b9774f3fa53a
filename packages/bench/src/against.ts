import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Benchmark, Row } from './benchmark.ts'
import { compareInTurn, middleOf } from './load/rounds.ts'

const rounds = 5
/** A round has the whole benchmark twice, so each takes a part of its time. */
const shareOfTime = 0.4

/**
 * Runs a benchmark for this product and for that of another checkout in turn, and compares each of
 * its figures. Baselines and bounds of its own are left out: they are for full lengths.
 */
export async function besideOther(
  benchmark: Benchmark,
  bench: Bench,
  checkout: string,
): Promise<Row[]> {
  const run = (measured: string) =>
    benchmark.run({
      ...bench,
      checkout: measured,
      // What one leaves in a database is not for the next.
      folder: mkdtempSync(join(bench.folder, 'round-')),
      seconds: (wanted) => bench.seconds(wanted) * shareOfTime,
    })
  const compared = await compareInTurn(
    {
      product: () => run(bench.checkout),
      baseline: () => run(checkout),
      ratioOf: () => Number.NaN,
    },
    { rounds: bench.count(rounds), warmUps: 0 },
  )
  return compared.product.flatMap(({ what }) => rowOf(what, compared.rounds))
}

type Round = { product: readonly Row[]; baseline: readonly Row[] }

/** Nothing for a figure that one of the two does not have. */
function rowOf(what: string, played: readonly Round[]): Row[] {
  const pairs = played.flatMap(({ product, baseline }) => {
    const [ours, theirs] = [product, baseline].map((rows) => rows.find((row) => row.what === what))
    if (ours === undefined || theirs === undefined) return []
    return [{ ours, theirs, ratio: ours.product.value / theirs.product.value }]
  })
  if (pairs.length === 0) return []
  const { ours, theirs, ratio } = middleOf(pairs, (pair) => pair.ratio)
  return [
    {
      what,
      product: ours.product,
      baseline: { name: 'the other checkout', ...theirs.product },
      ratio,
      notes: `ratios ${pairs.map((pair) => pair.ratio.toFixed(2)).join(', ')}`,
    },
  ]
}
