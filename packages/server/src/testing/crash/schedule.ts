import type { Random } from './random.ts'

/** When a round's process is killed; times in milliseconds. */
export type Moment =
  /**
   * Between its first words and shortly after it is ready: `share` of the time that the start
   * before took for that. The database is opened in it, and an empty one migrated.
   */
  | { during: 'start'; share: number }
  /** So many answers after the load began; `0` is before any. */
  | { during: 'first answers' | 'full load'; answers: number }
  | { during: 'load'; afterMs: number }
  /** So long after a SIGTERM in the load. */
  | { during: 'shutdown'; loadMs: number; afterMs: number }

type Stretch = Moment['during']

/** How often nodes are killed in each stretch of their lives. */
const shares: readonly (readonly [Stretch, number])[] = [
  ['start', 0.12],
  ['first answers', 0.15],
  ['load', 0.33],
  ['full load', 0.28],
  ['shutdown', 0.12],
]

/**
 * Chooses the moment of a round. The first of a store falls into its migrations; of the others each
 * stretch comes once before any comes again, so that a short run has met them all.
 *
 * @param met the stretches of the rounds before, but for the first ones
 */
export function chooseMoment(
  random: Random,
  { isFirst, met }: { isFirst: boolean; met: Pick<ReadonlySet<string>, 'has'> },
): Moment {
  const during = isFirst ? 'start' : chooseStretch(random, met)
  switch (during) {
    case 'start':
      return { during, share: random.fraction() * 1.1 }
    case 'first answers':
      return { during, answers: random.below(40) }
    case 'load':
      return { during, afterMs: 1 + random.below(400) }
    case 'full load':
      return { during, answers: 40 + random.below(400) }
    case 'shutdown':
      return { during, loadMs: 20 + random.below(150), afterMs: random.below(60) }
  }
}

function chooseStretch(random: Random, met: Pick<ReadonlySet<string>, 'has'>): Stretch {
  const fresh = shares.filter(([stretch]) => !met.has(stretch))
  const open = fresh.length > 0 ? fresh : shares
  let left = random.fraction() * open.reduce((sum, [, share]) => sum + share, 0)
  const chosen = open.find(([, share]) => {
    left -= share
    return left < 0
  })
  return (chosen ?? shares[0])?.[0] ?? 'start'
}
