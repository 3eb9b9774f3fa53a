import type { CallContext, RpcOutcome } from '../kernel/play/calls.ts'
import type { RoomHooks } from '../kernel/play/room-hooks.ts'

/** What the gateway needs from the rest of the node; `node/` fills it. */

/** The account behind an access token, as the gateway needs it. */
export type Player = {
  session_id: string
  user_id: string
  username: string
  /** The session's life ends here: the connection is closed with 4004. */
  refresh_expires_at_unix_ms: number
}

/**
 * The game's script, as the gateway calls it. Calls about one participant start in the order in
 * which they are made here; none of them throws, and none blocks the event loop.
 */
export type GameScript = RoomHooks & {
  /** Whether a worker serves calls right now. */
  serving(): boolean
  /** Whether the script of somebody in this room, or in none, has a handler for the kind. */
  handlesKind(kind: number, room_id: number | null): boolean
  /** `settled` is called when nothing more comes of it, which may be at once. */
  join(context: CallContext, settled: () => void): void
  leave(context: CallContext): void
  /** `body` must not be changed afterwards. `settled` says how it went, for notices. */
  message(
    context: CallContext,
    message: { kind: number; body: Uint8Array; unreliable: boolean },
    settled: (outcome: 'ok' | 'failed' | 'unavailable') => void,
  ): void
  rpc(context: CallContext, method: string, payload: Uint8Array): Promise<RpcOutcome>
  /** True while the inbox is full; the gateway then stops reading from sockets. */
  congested(): boolean
  /** Calls `listener` once the inbox has drained to half. */
  onceDrained(listener: () => void): void
}

/** Finds out who presents a token: undefined for everything but a live session's access token. */
export type VerifyPlayer = (accessToken: string) => Promise<Player | undefined>

/** Which of these sessions are still live (registered, unrevoked, unexpired, account active). */
export type LiveSessions = (sessionIds: readonly string[]) => Promise<ReadonlySet<string>>
