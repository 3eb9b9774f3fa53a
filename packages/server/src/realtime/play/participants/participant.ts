import type { Place, Receiver } from '../../play.port.ts'
import type { Player } from '../../ports.ts'
import type { Following, Member } from '../rooms/member.ts'
import type { RequestLine } from '../rooms/requests/request-line.ts'
import type { Room } from '../rooms/room.ts'
import type { Caller } from '../rpc/caller.ts'
import type { Away } from './away.ts'

/**
 * Somebody who plays, under one participant id. Rooms and topics hold participants; with a
 * reconnect grace a participant outlives its connection.
 */
export type Participant = Member &
  Caller & {
    /** Null for guests. */
    session_id: string | null
    session_ends_at_unix_ms: number
    /** Since when its connection plays, on the monotonic clock. */
    connectedSinceMs: number
    room: Room | undefined
    /** It is in a room of another node. */
    away: Away | undefined
    /** What it has of the state of its room; undefined while it does not follow one. */
    following: Following | undefined
    /** Names of topics; undefined while it is in none. */
    topics: Set<string> | undefined
    /** Room requests of its connection without an answer; undefined when there are none. */
    requests: RequestLine | undefined
  }

/** A participant that has no connection yet. */
export function newParticipant(id: number, account: Player | undefined): Participant {
  return {
    context: {
      participant: id,
      user_id: account?.user_id ?? null,
      username: account?.username ?? null,
      room_id: null,
      match_id: null,
    },
    session_id: account?.session_id ?? null,
    session_ends_at_unix_ms: account?.refresh_expires_at_unix_ms ?? Number.POSITIVE_INFINITY,
    receiver: noReceiver,
    isConnected: false,
    flags: 0,
    snapshot: undefined,
    connectedSinceMs: 0,
    room: undefined,
    relayed: false,
    away: undefined,
    following: undefined,
    topics: undefined,
    requests: undefined,
    listCalls: undefined,
    partyMessages: undefined,
  }
}

/** Gives the participant a connection; what was kept about an earlier one is forgotten. */
export function connect(
  participant: Participant,
  connection: { receiver: Receiver; flags: number; sinceMs: number; relayed: boolean },
): void {
  participant.receiver = connection.receiver
  participant.flags = connection.flags
  participant.connectedSinceMs = connection.sinceMs
  participant.isConnected = true
  participant.relayed = connection.relayed
  participant.requests = undefined
  participant.listCalls = undefined
  participant.partyMessages = undefined
}

/** Takes the connection away; envelopes go to `receiver` from here on. */
export function disconnect(participant: Participant, receiver: Receiver): void {
  participant.receiver = receiver
  participant.isConnected = false
  participant.requests = undefined
}

export function placeOf({ context, room }: Participant): Place {
  const { room_id, match_id } = context
  return { room_id, match_id, binding: room?.binding ?? null }
}

/** Where envelopes go whose receiver is over. */
export const noReceiver: Receiver = {
  deliver() {},
  deliverPositions() {},
  placed() {},
  settled() {},
  unhandled() {},
  replied() {},
}
