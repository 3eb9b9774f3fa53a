import { createContext, Script } from 'node:vm'
import type { Clock } from '../../../../kernel/clock.ts'

/**
 * Runs code that an endless loop must not hold: the engine's watchdog ends it with an error that no
 * code inside can catch, and everything outside lives on.
 *
 * A watchdog costs a thread, far more than a call, and its time is fixed when it is armed. One
 * guard therefore covers many calls: it goes off a quarter of the deadline (and a little) later
 * than the first call may last, and a call may still begin under it while its own whole deadline
 * fits. So no call is interrupted early, and none later than one and a half deadlines and 25 ms.
 */
export type Guard = {
  /**
   * Runs `work` once. `mayBegin()` tells inside of it whether the guard still covers another call;
   * when it does not, `work` must return.
   */
  run(deadlineMs: number, work: () => void): 'finished' | 'interrupted'
  mayBegin(nowMs: number): boolean
}

export function createGuard(clock: Pick<Clock, 'monotonicMs'>): Guard {
  const slot: { work: () => void } = { work: () => {} }
  // A context of its own: the script cannot reach the function through its globals.
  const context = createContext(Object.freeze({ work: () => slot.work() }))
  const script = new Script('work()', { filename: 'guildhall:guard' })
  let beginUntilMs = 0

  return {
    mayBegin: (nowMs) => nowMs <= beginUntilMs,
    run(deadlineMs, work) {
      const timeoutMs = guardMs(deadlineMs)
      slot.work = work
      beginUntilMs = clock.monotonicMs() + timeoutMs - deadlineMs - timerErrorMs
      try {
        script.runInContext(context, { timeout: timeoutMs })
        return 'finished'
      } catch (error) {
        if (isTimeout(error)) return 'interrupted'
        throw error
      }
    },
  }
}

/** The watchdog's timer counts whole milliseconds and may go off up to one early. */
const timerErrorMs = 2

export function guardMs(deadlineMs: number): number {
  return Math.ceil(deadlineMs * 1.25 + 12.5)
}

function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  )
}
