import type { NewCall } from '../calls.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'

/** Which calls are open, as far as the order of calls goes (see `lane` in the table of hooks). */
export type OpenLanes = {
  enter(call: NewCall): void
  leave(call: NewCall): void
  /** How many open calls this one has to wait for, one after the other. */
  ahead(call: NewCall): number
}

/** `gates` are joins and returns, which RPCs and room hooks wait for. */
type Lane = { open: number; gates: number }

const laneKinds = Array.from(hooksByCode, (hook) => hook?.row.lane ?? 'none')

export function createOpenLanes(): OpenLanes {
  const participants = new Map<number, Lane>()
  const rooms = new Map<number, Lane>()

  function placeOf({ hook, context }: NewCall): [Map<number, Lane>, number] | undefined {
    const { participant, room_id } = context
    const kind = laneKinds[hook]
    if (kind === 'participant' && participant !== 0) return [participants, participant]
    return kind === 'room' && room_id !== null ? [rooms, room_id] : undefined
  }

  return {
    enter(call) {
      const place = placeOf(call)
      if (place === undefined) return
      const [lanes, key] = place
      const lane = lanes.get(key) ?? { open: 0, gates: 0 }
      lane.open += 1
      if (isGate(call)) lane.gates += 1
      lanes.set(key, lane)
    },
    leave(call) {
      const place = placeOf(call)
      const lane = place?.[0].get(place[1])
      if (place === undefined || lane === undefined) return
      lane.open -= 1
      if (isGate(call)) lane.gates -= 1
      if (lane.open === 0) place[0].delete(place[1])
    },
    ahead(call) {
      const place = placeOf(call)
      if (place !== undefined) return place[0].get(place[1])?.open ?? 0
      if (laneKinds[call.hook] !== 'joined') return 0
      const lane = participants.get(call.context.participant)
      return lane === undefined || lane.gates === 0 ? 0 : lane.open
    },
  }
}

function isGate({ hook }: NewCall): boolean {
  return hook === hookCode.on_join || hook === hookCode.on_return
}
