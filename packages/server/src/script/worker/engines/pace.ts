import type { Clock } from '../../../kernel/clock.ts'

/**
 * How often a guest that counts its steps is asked whether it must stop. Most steps take no time,
 * but one may be a built-in that sorts a long list, so looks are many. They cost little as long as
 * they do not ask the clock: they read a count that grows every few milliseconds, which the
 * watchdog keeps. Where that does not get to run, the clock is asked at every few looks.
 */
export type Pace = {
  /** Steps until the first look of a slice. */
  first(): number
  /** At a look: steps until the next one, or 0 where the guest must stop. */
  next(): number
  /** Steps from here, where something was done that may have taken time. */
  soon(): number
}

type PaceDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  /** Another number every few milliseconds. */
  ticks: () => number
  isLate: (nowMs: number) => boolean
}

/** Looks that read the count alone, and of which the last asks the clock. */
const looksPerClock = 4
const slowMs = 2

/** @param most steps between two looks */
export function createPace({ clock, ticks, isLate }: PaceDeps, most: number): Pace {
  let tick = 0
  let looksLeft = 1
  let askedMs = Number.POSITIVE_INFINITY

  return {
    first() {
      tick = ticks()
      looksLeft = 1
      askedMs = Number.POSITIVE_INFINITY
      return most
    },
    next() {
      const ticked = ticks()
      looksLeft -= 1
      if (ticked === tick && looksLeft > 0) return most
      tick = ticked
      const nowMs = clock.monotonicMs()
      if (isLate(nowMs)) return 0
      const isSlow = nowMs - askedMs > slowMs
      askedMs = nowMs
      looksLeft = isSlow ? 1 : looksPerClock
      return isSlow ? 1 : most
    },
    soon() {
      looksLeft = 1
      return 1
    },
  }
}
