import type { CallContext } from '../../../kernel/play/calls.ts'
import type { LiveSession } from '../../connection/live/live-session.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Player } from '../../ports.ts'
import type { Room } from '../rooms/room.ts'

/**
 * Somebody who plays, under one participant id. Rooms and topics hold participants; with a
 * reconnect grace a participant outlives its connection.
 */
export type Participant = {
  /** What scripts receive; replaced as a whole when the room changes, never changed. */
  context: CallContext
  /** Null for guests. */
  session_id: string | null
  session_ends_at_unix_ms: number
  /** Where envelopes for it go: its connection, or its seat while it is dropped. */
  receiver: Receiver
  /** Its connection; undefined while it is dropped, and once it has ended. */
  live: LiveSession | undefined
  room: Room | undefined
  /** Names of topics; undefined while it is in none. */
  topics: Set<string> | undefined
}

export type Receiver = {
  /** Queues a frame that others may get too. */
  deliver(frame: OutgoingFrame, unreliable: boolean): void
  /** Sends, unreliably and at once, the positions of all senders but `own`, one of each. */
  deliverPositions(positions: readonly OutgoingFrame[], own: number): void
}

/** A participant that has no connection yet. */
export function newParticipant(id: number, player: Player | undefined): Participant {
  return {
    context: {
      participant: id,
      user_id: player?.user_id ?? null,
      username: player?.username ?? null,
      room_id: null,
      match_id: null,
    },
    session_id: player?.session_id ?? null,
    session_ends_at_unix_ms: player?.refresh_expires_at_unix_ms ?? Number.POSITIVE_INFINITY,
    receiver: nobody,
    live: undefined,
    room: undefined,
    topics: undefined,
  }
}

/** Where envelopes go whose receiver is over. */
export const nobody: Receiver = { deliver() {}, deliverPositions() {} }
