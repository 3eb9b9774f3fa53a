import type { CallRecord } from '../wire/call-records.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'
import { HostMap } from './host-map.ts'

/**
 * The order of calls, as the table of hooks has it. Calls of the lane `participant` run strictly
 * one after the other for each participant, those of `room` for each room; one of `joined` only
 * waits for the participant's join or return. A lane exists while one of its calls is suspended.
 */
export type Lanes = {
  /** Whether the call must wait for an earlier one; if so it is kept here. */
  mustWait(call: CallRecord): boolean
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

const laneKinds = Array.from(hooksByCode, (hook) => hook?.lane ?? 'none')

export function createLanes(start: (call: CallRecord) => void): Lanes {
  const participants = new HostMap<number, Lane>()
  const rooms = new HostMap<number, Lane>()

  function mustWaitFor(call: CallRecord, lane: Lane | undefined): boolean {
    if (!lane) return false
    if (laneKinds[call.hook] === 'joined' && !lane.gated) return false
    lane.waiting[lane.waiting.length] = call
    if (isGate(call)) lane.gated = true
    return true
  }

  function keyOf(call: CallRecord): [HostMap<number, Lane>, number] | undefined {
    const kind = laneKinds[call.hook]
    if (kind === 'participant' && call.participant !== 0) return [participants, call.participant]
    if (kind === 'room' && call.room_id !== null) return [rooms, call.room_id]
    return undefined
  }

  return {
    mustWait(call) {
      if (participants.size === 0 && rooms.size === 0) return false
      switch (laneKinds[call.hook]) {
        case 'participant':
        case 'joined':
          return call.participant !== 0 && mustWaitFor(call, participants.get(call.participant))
        case 'room':
          return call.room_id !== null && mustWaitFor(call, rooms.get(call.room_id))
        default:
          return false
      }
    },
    occupy(call) {
      const at = keyOf(call)
      at?.[0].set(at[1], { occupant: call, waiting: [], gated: isGate(call) })
    },
    release(call) {
      const at = keyOf(call)
      if (!at) return
      const lane = at[0].get(at[1])
      if (lane?.occupant !== call) return
      at[0].delete(at[1])
      for (let n = 0; n < lane.waiting.length; n += 1) {
        const waiting = lane.waiting[n]
        if (waiting) start(waiting)
      }
    },
  }
}

function isGate({ hook }: CallRecord): boolean {
  return hook === hookCode.on_join || hook === hookCode.on_return
}
