import { limits } from '../limits.ts'
import { GuildhallError } from './errors.ts'
import { HostMap } from './host-map.ts'

/** What `guildhall.after` was given, until its time has come; the node keeps the time. */
export type Timers = {
  add(task: () => unknown): number
  /** The task of a timer that went off; undefined if it was cancelled meanwhile. */
  take(timer: number): (() => unknown) | undefined
}

export function createTimers(): Timers {
  const tasks = new HostMap<number, () => unknown>()
  let last = 0
  return {
    add(task) {
      if (tasks.size >= limits.timers) {
        throw new GuildhallError('limit_exceeded', `after: more than ${limits.timers} timers`)
      }
      last += 1
      tasks.set(last, task)
      return last
    },
    take(timer) {
      const task = tasks.get(timer)
      tasks.delete(timer)
      return task
    },
  }
}
