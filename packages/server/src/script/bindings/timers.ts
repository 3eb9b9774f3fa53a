import { limits } from '../limits.ts'
import { op } from '../output-records.ts'
import { invalidArgument } from '../worker/errors.ts'
import type { Output } from '../worker/output.ts'
import { type BindingHost, callerOf } from './binding-host.ts'

/**
 * `after`, `cancel` and `now_ms`. The node keeps the time, so that a timer is a call like
 * any other. A timer holds also when the slice that set it fails: it is no command.
 */
export function createTimerBindings(host: BindingHost) {
  const { timers, clock, runner } = host

  function timerOutput(): Output {
    runner.wantTurnEnd()
    return runner.timerOutput
  }

  return {
    after(delay_ms: unknown, fn: unknown): number {
      callerOf(host)
      if (typeof delay_ms !== 'number' || !Number.isInteger(delay_ms)) {
        throw invalidArgument('after: delay_ms must be an integer')
      }
      if (delay_ms < 1 || delay_ms > limits.timerDelayMs) {
        throw invalidArgument(`after: delay_ms must be 1 to ${limits.timerDelayMs}`)
      }
      if (!isTask(fn)) throw invalidArgument('after: the second argument is not a function')
      const timer = timers.add(fn)
      timerOutput().timer(op.after, timer, delay_ms)
      return timer
    },
    cancel(timer: unknown): boolean {
      callerOf(host)
      if (typeof timer !== 'number' || !Number.isSafeInteger(timer)) {
        throw invalidArgument('cancel: timer must be a number that after returned')
      }
      if (!timers.take(timer)) return false
      timerOutput().timer(op.cancel, timer, 0)
      return true
    },
    now_ms: () => clock.nowUnixMs(),
  }
}

function isTask(fn: unknown): fn is () => unknown {
  return typeof fn === 'function'
}
