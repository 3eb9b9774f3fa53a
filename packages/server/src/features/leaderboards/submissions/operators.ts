import { type BoardOperator, type BoardSort, int64Max, int64Min } from '@guildhall/contract'

/** What a record and a submission have in common; `metadata` is JSON text. */
export type Score = { score: bigint; subscore: bigint; metadata: string | null }

/**
 * What a further submission makes of a record; undefined when it does not win. The first one of a
 * user stands as it is, under every operator.
 */
export function applyOperator(
  { operator, sort }: { operator: BoardOperator; sort: BoardSort },
  held: Score,
  submitted: Score,
): Score | undefined {
  switch (operator) {
    case 'set':
      return submitted
    case 'incr':
      return {
        score: saturated(held.score + submitted.score),
        subscore: saturated(held.subscore + submitted.subscore),
        metadata: submitted.metadata,
      }
    case 'best':
      return isBetter(sort, submitted, held) ? submitted : undefined
  }
}

/** An equal pair is not better. */
function isBetter(sort: BoardSort, a: Score, b: Score): boolean {
  const difference = a.score === b.score ? a.subscore - b.subscore : a.score - b.score
  return sort === 'asc' ? difference < 0n : difference > 0n
}

function saturated(sum: bigint): bigint {
  if (sum > int64Max) return int64Max
  return sum < int64Min ? int64Min : sum
}
