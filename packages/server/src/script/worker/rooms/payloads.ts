import { parseExact } from '@guildhall/contract'
import type { CallRecord } from '../../wire/call-records.ts'
import { context } from '../contexts.ts'
import type { RoomMember } from './room-followers.ts'

/** An object with exactly these two members is the pair; everything else is a state. */
export function pairOf(made: unknown): { state: unknown; label: object | undefined } {
  if (typeof made === 'object' && made !== null && !Array.isArray(made)) {
    const { state, label, ...others } = made as { state?: unknown; label?: unknown }
    const isPair = 'state' in made && typeof label === 'object' && label !== null
    if (isPair && Object.keys(others).length === 0) return { state, label }
  }
  return { state: made, label: undefined }
}

export type Payload = {
  readonly options?: unknown
  readonly participant?: unknown
  readonly user_id?: unknown
  readonly username?: unknown
  readonly properties?: unknown
}

/** What the node wrote. */
export function payloadOf(call: CallRecord): Payload {
  return parseExact(call.text ?? '{}') as Payload
}

export function withPayload(call: CallRecord): object {
  return call.text === null ? context(call) : { ...context(call), ...payloadOf(call) }
}

export function memberOf({ participant, user_id, username }: Payload): RoomMember {
  return Object.freeze({
    participant: Number(participant),
    user_id: typeof user_id === 'string' ? user_id : null,
    username: typeof username === 'string' ? username : null,
  })
}

/** The context of a member that came or went. */
export function memberContext(call: CallRecord): object {
  const payload = payloadOf(call)
  const { participant: sender, user_id, username } = memberOf(payload)
  const { room_id, match_id } = context(call)
  const { properties = null } = payload
  return { sender, user_id, username, room_id, match_id, origin: 'player', properties }
}
