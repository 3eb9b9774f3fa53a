import type { HookContext, RpcFailure } from '@guildhall/contract'

/**
 * Who a call of the game's script is about. `participant` is 0 when there is no sender; the script
 * reads it as `ctx.sender`, beside the origin of the call.
 */
export type CallContext = { participant: number } & Omit<HookContext, 'sender' | 'origin'>

/** A call without a sender: ticks, timers, the console, events. */
export const nobody: CallContext = {
  participant: 0,
  user_id: null,
  username: null,
  room_id: null,
  match_id: null,
}

/**
 * What the caller of an RPC gets: the reply, or one of the texts that callers may see. `more` is
 * what the script said beside its text.
 */
export type RpcOutcome =
  | { ok: true; reply: Uint8Array }
  | { ok: false; error: string; more?: Omit<RpcFailure, 'message'> }
