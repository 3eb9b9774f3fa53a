import type { Clock } from '../../../kernel/clock.ts'
import { Interrupted } from '../errors.ts'
import { type Invocation, timeLeftMs } from '../invocation.ts'
import type { Ended, Guard, Scope } from './engine.ts'

/**
 * The scope of an engine that runs its guest's code step by step and looks at the time itself, such
 * as an interpreter with a count of instructions.
 */
export type Guest = {
  readonly guard: Guard
  readonly scope: Scope
  /** Whether the slice that runs is past what its invocation may use, at a time of its clock. */
  isLate(nowMs: number): boolean
  /** The same, now. */
  isOverdue(): boolean
  /** Throws `Interrupted` if it is. */
  checkTime(): void
}

export function createGuest(clock: Pick<Clock, 'monotonicMs'>): Guest {
  let current: Invocation | undefined
  let untilMs = Number.POSITIVE_INFINITY
  const isLate = (nowMs: number) => nowMs > untilMs
  const isOverdue = () => isLate(clock.monotonicMs())

  function run(_deadlineMs: number, work: () => void): Ended {
    work()
    return 'finished'
  }

  return {
    guard: {
      run,
      runAlone: run,
      takeInterrupt: () => false,
      mayBegin: () => true,
    },
    scope: {
      run(invocation, fn, a, b) {
        current = invocation
        untilMs = clock.monotonicMs() + timeLeftMs(invocation)
        try {
          return fn(a, b)
        } finally {
          current = undefined
          untilMs = Number.POSITIVE_INFINITY
        }
      },
      current: () => current,
    },
    isLate,
    isOverdue,
    checkTime() {
      if (isOverdue()) throw new Interrupted()
    },
  }
}
