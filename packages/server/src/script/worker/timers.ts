import { limits } from '../wire/limits.ts'
import { GuildhallError } from './errors.ts'
import { HostMap } from './host-map.ts'

type Task = () => unknown

/** What `after` and `every` were given; the node keeps the time. */
export type Timers = {
  /** `repeats` marks a timer of `every`, which stays until it is cancelled. */
  add(name: string, task: Task, repeats: boolean): number
  /** The task of a timer that went off; undefined if it was cancelled meanwhile. */
  take(timer: number): Task | undefined
  /** False if there is no such timer (any more). */
  cancel(timer: number): boolean
}

export function createTimers(): Timers {
  const timers = new HostMap<number, { task: Task; repeats: boolean }>()
  let last = 0
  return {
    add(name, task, repeats) {
      if (timers.size >= limits.timers) {
        throw new GuildhallError('limit_exceeded', `${name}: more than ${limits.timers} timers`)
      }
      last += 1
      timers.set(last, { task, repeats })
      return last
    },
    take(timer) {
      const found = timers.get(timer)
      if (found && !found.repeats) timers.delete(timer)
      return found?.task
    },
    cancel: (timer) => timers.delete(timer),
  }
}
