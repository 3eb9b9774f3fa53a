import { scriptOrigins } from '@guildhall/contract'
import type { CallRecord } from '../wire/call-records.ts'

/** What every handler gets of the call. */
export function context(call: CallRecord) {
  return {
    sender: call.participant,
    user_id: call.about?.user_id ?? null,
    username: call.about?.username ?? null,
    room_id: call.room_id,
    match_id: call.about?.match_id ?? null,
    origin: scriptOrigins[call.origin],
  }
}

export function messageContext(call: CallRecord) {
  return { ...context(call), kind: call.detail, unreliable: call.unreliable }
}

export function rpcContext(call: CallRecord) {
  return { ...context(call), method: call.text }
}
