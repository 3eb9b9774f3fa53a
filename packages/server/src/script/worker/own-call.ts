import type { CallRecord } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'

export const noRooms = new Uint8Array(0)

/** A call that the node has not made. */
export const ownCall: CallRecord = {
  id: 0,
  hook: hookCode.state_sync,
  participant: 0,
  room_id: null,
  detail: 0,
  unreliable: false,
  origin: 0,
  body: noRooms,
  text: null,
  about: undefined,
  group: undefined,
  isOver: false,
}
