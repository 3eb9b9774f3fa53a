import type { CallRecord } from '../call-records.ts'
import { hookCode } from '../hooks.ts'
import { HostMap } from './host-map.ts'

/**
 * The order of one participant's calls: join, messages and leave run strictly one after the other;
 * an RPC only waits for the join. A lane exists while one of them is suspended.
 */
export type Lanes = {
  /** Whether the call must wait for an earlier one; if so it is kept here. */
  mustWait(call: CallRecord): boolean
  /** The call is suspended: those that come after it wait. */
  occupy(call: CallRecord): void
  /** The call has settled: those that waited for it may start, in their order. */
  release(call: CallRecord): void
}

type Lane = { readonly occupant: CallRecord; readonly waiting: CallRecord[] }

export function createLanes(start: (call: CallRecord) => void): Lanes {
  const lanes = new HostMap<number, Lane>()
  return {
    mustWait(call) {
      if (lanes.size === 0 || call.participant === 0) return false
      const lane = lanes.get(call.participant)
      if (!lane) return false
      if (call.hook === hookCode.rpc && lane.occupant.hook !== hookCode.join) return false
      lane.waiting[lane.waiting.length] = call
      return true
    },
    occupy(call) {
      if (isSequential(call)) lanes.set(call.participant, { occupant: call, waiting: [] })
    },
    release(call) {
      const lane = lanes.get(call.participant)
      if (lane?.occupant !== call) return
      lanes.delete(call.participant)
      for (let n = 0; n < lane.waiting.length; n += 1) {
        const waiting = lane.waiting[n]
        if (waiting) start(waiting)
      }
    },
  }
}

function isSequential({ hook, participant }: CallRecord): boolean {
  if (participant === 0) return false
  return hook === hookCode.join || hook === hookCode.message || hook === hookCode.leave
}
