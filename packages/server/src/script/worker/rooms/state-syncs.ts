import type { Clock } from '../../../kernel/clock.ts'
import type { CallRecord } from '../../wire/call-records.ts'
import { hookCode } from '../../wire/hooks.ts'
import { Interrupted } from '../errors.ts'
import type { Output } from '../output.ts'
import { type StateMessage, SyncProblem } from './room-followers.ts'
import type { StateRoom } from './state-room.ts'
import { frozenState } from './tested-states.ts'

type StateSyncsDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  /** Runs a call of this worker's own before those that wait. */
  runSoon(hook: number, roomId: number): void
  later(ms: number, task: () => void): void
  /** Of what computes now. */
  output(): Output | undefined
  /** What a view has thrown, as text for the records. */
  describe(error: unknown): string
  /** Whether the game runs under test. */
  isTested(): boolean
}

/** Before a sync that was lost is tried again: twice as long each time, up to a minute. */
const retryMs = 1_000
const retryMsMax = 60_000

/** When the followers of rooms are sent what has changed, and what is sent. */
export class StateSyncs {
  readonly #deps: StateSyncsDeps

  constructor(deps: StateSyncsDeps) {
    this.#deps = deps
  }

  /** A member follows the state from now on, or does not any more. */
  watch(room: StateRoom, call: CallRecord): void {
    const { followers } = room
    if (call.detail === 0) {
      followers.remove(call.participant)
      return
    }
    this.#addFollower(room, call)
    if (followers.isWhole) {
      this.#tryToWelcome(room, () => followers.welcome(this.#seenState(room)))
    } else this.#syncSoon(room)
  }

  /** What it has made is lost, with its slice. */
  watchFailed(room: StateRoom, call: CallRecord): void {
    room.followers.interrupted()
    if (call.detail === 0) return
    if (!room.followers.has(call.participant)) this.#addFollower(room, call)
    this.#syncSoon(room)
  }

  /**
   * A sync is lost, with its slice. The next one comes at the latest in a second; but what was
   * interrupted may be endless, so each further one comes later.
   */
  lost(room: StateRoom): void {
    room.followers.interrupted()
    room.isUnsent = true
    room.isSyncDue = false
    this.#deps.output()?.fault(makerOf(room), '\ninterrupted at its deadline')
    if (room.isRetryDue) return
    room.isRetryDue = true
    this.#deps.later(Math.min(retryMs * 2 ** room.retries, retryMsMax), () => {
      room.isRetryDue = false
      if (!room.isUnsent || room.isSyncDue) return
      room.retries += 1
      this.#syncSoon(room)
    })
  }

  #addFollower(room: StateRoom, { participant, about }: CallRecord): void {
    const { user_id = null, username = null } = about ?? {}
    room.retries = 0
    const known = room.members.find((member) => member.participant === participant)
    room.followers.add(known ?? { participant, user_id, username })
  }

  /** The call of a sync. */
  run(room: StateRoom): void {
    if (room.triesLate) {
      room.triesLate = false
      this.#tryToWelcome(room, () => room.followers.welcomeLate(this.#seenState(room)))
      return
    }
    const output = this.#deps.output()
    if (output !== undefined) this.#send(room, output)
    if (!room.followers.hasLate) return
    room.triesLate = true
    this.#deps.runSoon(hookCode.state_sync, room.room_id)
  }

  #send(room: StateRoom, output: Output): void {
    room.isUnsent = false
    room.isSyncDue = false
    room.ticksSinceSync = 0
    room.lastSyncMs = this.#deps.clock.monotonicMs()
    const { followers, copy } = room
    this.#tryTo(room, output, () => followers.sync(this.#seenState(room), copy.value))
    room.behindSync.moveAll(output)
  }

  /** What `view` and `own` are given. */
  #seenState(room: StateRoom): unknown {
    return this.#deps.isTested() ? frozenState(room.copy) : room.state
  }

  #tryToWelcome(room: StateRoom, make: () => readonly StateMessage[]): void {
    const output = this.#deps.output()
    if (output !== undefined) this.#tryTo(room, output, make)
  }

  /**
   * Sends what could be made, and reports what could not; that is tried again. What has run out of
   * time ends its slice, in every engine.
   */
  #tryTo(room: StateRoom, output: Output, make: () => readonly StateMessage[]): void {
    try {
      send(output, room, make())
    } catch (problem) {
      if (problem instanceof Interrupted) throw problem
      const isPart = problem instanceof SyncProblem
      if (isPart) send(output, room, problem.messages)
      const error = isPart ? problem.error : problem
      output.fault(makerOf(room), this.#deps.describe(error))
      room.isUnsent = true
      this.#syncLater(room)
    }
  }

  /** What follows a slice: a sync now, in time, or with a tick. */
  follow(room: StateRoom, isTick: boolean, output: Output): void {
    if (!room.isUnsent || room.followers.isEmpty) {
      room.isUnsent = false
      if (!room.isSyncDue) room.behindSync.moveAll(output)
      return
    }
    const { tick, tickHz } = room.definition
    if (tick === undefined || tickHz === 0 || !room.label.tick) this.#syncLater(room)
    else if (isTick && room.ticksSinceSync >= room.ticksPerSync) this.#syncWith(room, output)
  }

  /** Where no code of the script sees the state first, the slice itself ends with the sync. */
  #syncWith(room: StateRoom, output: Output): void {
    if (room.definition.view !== undefined || room.isSyncDue) {
      this.#syncSoon(room)
      return
    }
    this.#send(room, output)
  }

  /** Due is said last: an interrupt before must not leave a room that waits for nothing. */
  #syncSoon(room: StateRoom): void {
    this.#deps.runSoon(hookCode.state_sync, room.room_id)
    room.isSyncDue = true
  }

  #syncLater(room: StateRoom): void {
    if (room.isSyncDue) return
    const dueMs = room.lastSyncMs + 1000 / room.definition.syncHz
    const waitMs = Math.ceil(dueMs - this.#deps.clock.monotonicMs())
    if (!(waitMs > 0)) {
      this.#syncSoon(room)
      return
    }
    this.#deps.later(waitMs, () => this.#deps.runSoon(hookCode.state_sync, room.room_id))
    room.isSyncDue = true
  }
}

/** What makes the syncs of a room, as reports name it; without a view no code of the script. */
function makerOf({ definition: { name, view } }: StateRoom): string {
  return `${name}.${view === undefined ? 'state' : 'view'}`
}

function send(output: Output, room: StateRoom, messages: readonly StateMessage[]): void {
  for (let n = 0; n < messages.length; n += 1) {
    const message = messages[n]
    if (message !== undefined) output.state(room.room_id, message)
  }
}
