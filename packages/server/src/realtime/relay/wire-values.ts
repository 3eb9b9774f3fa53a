import { type Departure, matchClosedBody, roomPresenceBody } from '@guildhall/contract'
import type { Participant } from '../play/participants/participant.ts'
import { presenceVersion } from '../play/rooms/member.ts'
import type { EnterRequest } from '../play/rooms/requests/room-request.ts'
import type { Place } from '../play.port.ts'
import type { Player } from '../ports.ts'
import type { Ask, WirePlace } from './messages.ts'

/** The account of a participant, for the owner of its room; null for a guest. */
export function accountOf({ context, session_id, session_ends_at_unix_ms }: Participant) {
  const { user_id, username } = context
  if (user_id === null || session_id === null) return null
  const refresh_expires_at_unix_ms = Math.max(0, session_ends_at_unix_ms)
  return { session_id, user_id, username: username ?? '', refresh_expires_at_unix_ms }
}

export function wireAccount({ session_id, user_id, username, refresh_expires_at_unix_ms }: Player) {
  return { session_id, user_id, username, refresh_expires_at_unix_ms }
}

/** A place on another node. */
export function placeOf({ room_id, match_id, binding }: WirePlace): Place {
  return { room_id, match_id, binding, ...(room_id !== null && { elsewhere: true }) }
}

/** The notice of its own leave, for a client that asked for notices. */
export function ownLeftBody(
  { context, flags }: Participant,
  room_id: number,
  reason: Departure,
): Uint8Array | undefined {
  const version = presenceVersion(flags)
  if (version === undefined) return undefined
  const { participant, user_id, username } = context
  const entries = [{ participant, user_id, username, reason }]
  return roomPresenceBody.encode({ version, event: 'left', more: false, room_id, entries })
}

/** The way to the room is lost for good. */
export function closedBody(room_id: number): Uint8Array {
  return matchClosedBody.encode({ room_id, reason: 0, requeue: true })
}

/** A request to enter, as the owner of the room gets it. */
export function enterAsk(
  participant: Participant,
  { kind, options, target }: EnterRequest,
  about: { visit: number; call: number; mayCreate: boolean },
): Ask {
  const { context, flags } = participant
  return {
    type: 'enter',
    ...about,
    ...{ kind, options, flags },
    participant: context.participant,
    account: accountOf(participant),
    target:
      target.by === 'id'
        ? { type: 'id', room_id: target.room_id, token: target.token }
        : { type: 'name', name: target.name, mayJoin: target.mayJoin },
  }
}
