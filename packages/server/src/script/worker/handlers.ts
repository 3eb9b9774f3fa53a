import type { CallRecord } from '../call-records.ts'
import { hookCode, origins } from '../hooks.ts'
import { limits } from '../limits.ts'
import type { Output } from './output.ts'
import type { Registry } from './registry.ts'
import type { Timers } from './timers.ts'

type Deps = { registry: Registry; timers: Timers }

/** Runs the script's handler for a call, if it has one. */
export function callHandler({ registry, timers }: Deps, call: CallRecord): unknown {
  switch (call.hook) {
    case hookCode.message:
      return registry.kinds[call.detail]?.(messageContext(call), call.body)
    case hookCode.rpc:
      return registry.methods[call.text ?? '']?.(rpcContext(call), call.body)
    case hookCode.join:
      return registry.hooks.on_join?.(context(call))
    case hookCode.leave:
      return registry.hooks.on_leave?.(context(call))
    case hookCode.start:
      return registry.hooks.on_start?.({ reason: call.text })
    case hookCode.tick:
      return registry.hooks.on_tick?.(call.detail, call.room_id)
    case hookCode.leaderboard_reset:
      return registry.hooks.on_leaderboard_reset?.(eventOf(call))
    case hookCode.tournament_completed:
      return registry.hooks.on_tournament_completed?.(eventOf(call))
    case hookCode.timer:
      return timers.take(call.detail)?.()
  }
}

/**
 * Places an RPC's reply: bytes, text, nothing, or any other value as JSON. Returns its length, or
 * -1 when it is too large. Throws what the value's `toJSON` throws.
 */
export function encodeReply(value: unknown, output: Output): number {
  if (value === undefined || value === null) return 0
  const body = value instanceof Uint8Array || typeof value === 'string' ? value : toJson(value)
  if (body.length > limits.replyBytes) return -1
  const length = output.place(body)
  return length > limits.replyBytes ? -1 : length
}

const stringify = JSON.stringify
const parse = JSON.parse

function toJson(value: unknown): string {
  const text: unknown = stringify(value)
  if (typeof text !== 'string') throw new TypeError('the reply is neither bytes, text nor JSON')
  return text
}

/** What happened, as the node wrote it. */
function eventOf(call: CallRecord): unknown {
  return parse(call.text ?? 'null')
}

function context(call: CallRecord) {
  return {
    sender: call.participant,
    user_id: call.about?.user_id ?? null,
    username: call.about?.username ?? null,
    room_id: call.room_id,
    match_id: call.about?.match_id ?? null,
    origin: origins[call.origin],
  }
}

function messageContext(call: CallRecord) {
  return {
    sender: call.participant,
    user_id: call.about?.user_id ?? null,
    username: call.about?.username ?? null,
    room_id: call.room_id,
    match_id: call.about?.match_id ?? null,
    origin: origins[call.origin],
    kind: call.detail,
    unreliable: call.unreliable,
  }
}

function rpcContext(call: CallRecord) {
  return {
    sender: call.participant,
    user_id: call.about?.user_id ?? null,
    username: call.about?.username ?? null,
    room_id: call.room_id,
    match_id: call.about?.match_id ?? null,
    origin: origins[call.origin],
    method: call.text,
  }
}
