import type { CallRecord } from '../wire/call-records.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'
import { HostMap } from './host-map.ts'

/**
 * The order of calls, as the table of hooks has it. All calls of handlers of a room with state run
 * strictly one after the other, besides. Calls of the lane `participant` run strictly
 * one after the other for each participant, those of `room` for each room; one of `joined` only
 * waits for the participant's join or return. A lane exists while one of its calls is suspended.
 */
export type Lanes = {
  /** Whether the call must wait for an earlier one; if so it is kept here. */
  mustWait(call: CallRecord): boolean
  /** Whether a call of the room is suspended. */
  isBusy(room: number): boolean
  /** The call is suspended: those that come after it wait. */
  occupy(call: CallRecord): void
  /** The call has settled: those that waited for it may start, in their order. */
  release(call: CallRecord): void
}

type Lane = {
  readonly occupant: CallRecord
  readonly waiting: CallRecord[]
  /** Whether a join or return is among them: calls of `joined` wait for it. */
  gated: boolean
}

const laneKinds = Array.from(hooksByCode, (hook) => hook?.row.lane ?? 'none')

export function createLanes(
  start: (call: CallRecord) => void,
  /** The room with state whose handler the call is for, if any. */
  stateRoomOf: (call: CallRecord) => number | null,
): Lanes {
  const participants = new HostMap<number, Lane>()
  const rooms = new HostMap<number, Lane>()
  const occupied = new HostMap<CallRecord, number>()

  function mustWaitFor(call: CallRecord, lane: Lane | undefined, all = false): boolean {
    if (!lane) return false
    if (!all && laneKinds[call.hook] === 'joined' && !lane.gated) return false
    const gates = isGate(call)
    // Behind this nothing is called: an interrupt would leave the call in the queue, too.
    lane.waiting[lane.waiting.length] = call
    if (gates) lane.gated = true
    return true
  }

  function participantOf(call: CallRecord): number | null {
    const isLaned = laneKinds[call.hook] === 'participant' && call.participant !== 0
    return isLaned ? call.participant : null
  }

  function roomOf(call: CallRecord): number | null {
    return stateRoomOf(call) ?? (laneKinds[call.hook] === 'room' ? call.room_id : null)
  }

  function occupyIn(lanes: HostMap<number, Lane>, key: number | null, call: CallRecord): void {
    if (key !== null) lanes.set(key, { occupant: call, waiting: [], gated: isGate(call) })
  }

  /** What waited may have to wait again, in the other lane. */
  function releaseIn(lanes: HostMap<number, Lane>, key: number | null, call: CallRecord): void {
    if (key === null) return
    const lane = lanes.get(key)
    if (lane?.occupant !== call) return
    lanes.delete(key)
    for (let n = 0; n < lane.waiting.length; n += 1) {
      const waiting = lane.waiting[n]
      if (waiting) start(waiting)
    }
  }

  return {
    mustWait(call) {
      if (participants.size === 0 && rooms.size === 0) return false
      const kind = laneKinds[call.hook]
      if ((kind === 'participant' || kind === 'joined') && call.participant !== 0) {
        if (mustWaitFor(call, participants.get(call.participant))) return true
      }
      const room = roomOf(call)
      return room !== null && mustWaitFor(call, rooms.get(room), true)
    },
    isBusy: (room) => rooms.size > 0 && rooms.has(room),
    occupy(call) {
      const room = roomOf(call)
      occupyIn(participants, participantOf(call), call)
      occupyIn(rooms, room, call)
      // The room may have ended when the call has.
      if (room !== null) occupied.set(call, room)
    },
    release(call) {
      const room = occupied.get(call) ?? null
      occupied.delete(call)
      releaseIn(participants, participantOf(call), call)
      releaseIn(rooms, room, call)
    },
  }
}

function isGate({ hook }: CallRecord): boolean {
  return hook === hookCode.on_join || hook === hookCode.on_return
}
