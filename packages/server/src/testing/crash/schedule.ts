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

/** Chooses the moment of a round. The first of a store falls into its migrations. */
export function chooseMoment(random: Random, { isFirst }: { isFirst: boolean }): Moment {
  const kind = isFirst ? 0 : random.fraction()
  if (kind < 0.12) return { during: 'start', share: random.fraction() * 1.1 }
  if (kind < 0.27) return { during: 'first answers', answers: random.below(40) }
  if (kind < 0.6) return { during: 'load', afterMs: 1 + random.below(400) }
  if (kind < 0.88) return { during: 'full load', answers: 40 + random.below(400) }
  return { during: 'shutdown', loadMs: 20 + random.below(150), afterMs: random.below(60) }
}
