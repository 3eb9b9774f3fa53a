import { limits } from '../wire/limits.ts'
import { GuildhallError } from './errors.ts'
import { HostMap } from './host-map.ts'

type Task = () => unknown

/** A room, and those of its timers that wait. */
type TimedRoom = { readonly room_id: number; readonly timers: Set<number> }

/** What `after` and `every` were given; the node keeps the time. */
export type Timers = {
  /** `repeats` marks a timer of `every`, which stays until it is cancelled. */
  add(name: string, task: Task, repeats: boolean): number
  /** A timer of `room.after`, which takes its turn among the handlers of the room. */
  addOfRoom(room: TimedRoom, task: Task): number
  /** One of the worker's own, which no limit counts. */
  addOwn(task: Task): number
  /** The room of a timer of `room.after`; null for every other timer. */
  roomOf(timer: number): number | null
  /** The task of a timer that went off; undefined if it was cancelled meanwhile. */
  take(timer: number): Task | undefined
  /** False if there is no such timer (any more). */
  cancel(timer: number): boolean
}

export function createTimers(): Timers {
  const timers = new HostMap<number, { task: Task; repeats: boolean; counts: boolean }>()
  const rooms = new HostMap<number, TimedRoom>()
  let last = 0
  let counted = 0

  function put(task: Task, { repeats, counts }: { repeats: boolean; counts: boolean }): number {
    last += 1
    timers.set(last, { task, repeats, counts })
    if (counts) counted += 1
    return last
  }

  function remove(timer: number): boolean {
    if (timers.get(timer)?.counts) counted -= 1
    rooms.get(timer)?.timers.delete(timer)
    rooms.delete(timer)
    return timers.delete(timer)
  }

  return {
    add(name, task, repeats) {
      if (counted >= limits.timers) {
        throw new GuildhallError('limit_exceeded', `${name}: more than ${limits.timers} timers`)
      }
      return put(task, { repeats, counts: true })
    },
    addOfRoom(room, task) {
      const timer = put(task, { repeats: false, counts: false })
      rooms.set(timer, room)
      room.timers.add(timer)
      return timer
    },
    addOwn: (task) => put(task, { repeats: false, counts: false }),
    roomOf: (timer) => rooms.get(timer)?.room_id ?? null,
    take(timer) {
      const found = timers.get(timer)
      if (found && !found.repeats) remove(timer)
      return found?.task
    },
    cancel: remove,
  }
}
