import type { Clock } from '../../../kernel/clock.ts'

/**
 * How often a guest that counts its steps is asked whether it must stop. Most steps take no time,
 * and asking takes some; but a step may be a built-in that sorts a long list. So a slice begins
 * with few steps between two looks, and more follow for as long as they take no time. How many at
 * most is what a quick slice that becomes slow may have before it is seen.
 */
export type Pace = {
  /** Steps until the first look of a slice. */
  first(): number
  /** Steps until the next look. */
  next(): number
  /** Steps from here, where something was done that may have taken time. */
  soon(): number
}

const slowMs = 2

export function createPace(
  clock: Pick<Clock, 'monotonicMs'>,
  { least, most }: { least: number; most: number },
): Pace {
  let lookedMs = 0
  let steps = least
  return {
    first() {
      lookedMs = clock.monotonicMs()
      steps = least
      return steps
    },
    next() {
      const nowMs = clock.monotonicMs()
      steps = nowMs - lookedMs > slowMs ? 1 : Math.min(steps * 2, most)
      lookedMs = nowMs
      return steps
    },
    soon() {
      steps = 1
      return steps
    },
  }
}
