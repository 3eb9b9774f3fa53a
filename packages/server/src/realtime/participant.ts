import type { CallContext, Player } from './ports.ts'

/** A registered connection as the rest of the gateway knows it. */
export type Participant = {
  /** What scripts are told; replaced as a whole when the room changes, never changed. */
  context: CallContext
  /** Null for guests. */
  session_id: string | null
  session_ends_at_unix_ms: number
  /** What SESSION_OPTIONS asked for; undefined as long as the client sent none. */
  flags: number | undefined
  rpcsOpen: number
  /** Notices sent in the running second; only there once one was sent. */
  notices: { sinceMs: number; count: number } | undefined
}

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
    flags: undefined,
    rpcsOpen: 0,
    notices: undefined,
  }
}
