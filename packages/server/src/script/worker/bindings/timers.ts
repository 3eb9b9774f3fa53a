import { limits } from '../../wire/limits.ts'
import { op } from '../../wire/output-records.ts'
import { invalidArgument } from '../errors.ts'
import type { Output } from '../output.ts'
import { type BindingHost, callerOf } from './binding-host.ts'

const shortestIntervalMs = 10

/**
 * `after`, `every`, `cancel` and `now_ms`. The node keeps the time, so that a timer is a call like
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
      const ms = checkedMs('after: delay_ms', delay_ms, 1)
      if (!isTask(fn)) throw invalidArgument('after: the second argument is not a function')
      const timer = timers.add('after', fn, false)
      timerOutput().timer(op.after, timer, ms)
      return timer
    },
    every(interval_ms: unknown, fn: unknown): number {
      callerOf(host)
      const ms = checkedMs('every: interval_ms', interval_ms, shortestIntervalMs)
      if (!isTask(fn)) throw invalidArgument('every: the second argument is not a function')
      const timer = timers.add('every', fn, true)
      timerOutput().timer(op.every, timer, ms)
      return timer
    },
    cancel(timer: unknown): boolean {
      callerOf(host)
      if (typeof timer !== 'number' || !Number.isSafeInteger(timer)) {
        throw invalidArgument('cancel: timer must be a number that after or every returned')
      }
      if (!timers.cancel(timer)) return false
      timerOutput().timer(op.cancel, timer, 0)
      return true
    },
    now_ms: () => clock.nowUnixMs(),
  }
}

function checkedMs(name: string, ms: unknown, least: number): number {
  if (typeof ms !== 'number' || !Number.isInteger(ms)) {
    throw invalidArgument(`${name} must be an integer`)
  }
  if (ms < least || ms > limits.timerDelayMs) {
    throw invalidArgument(`${name} must be ${least} to ${limits.timerDelayMs}`)
  }
  return ms
}

export function isTask(fn: unknown): fn is () => unknown {
  return typeof fn === 'function'
}
