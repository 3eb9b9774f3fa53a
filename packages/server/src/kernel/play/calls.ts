/** Who a call of the game's script is about. `participant` is 0 when there is no sender. */
export type CallContext = {
  participant: number
  user_id: string | null
  username: string | null
  room_id: number | null
  match_id: string | null
}

/** A call without a sender: ticks, timers, the console, events. */
export const nobody: CallContext = {
  participant: 0,
  user_id: null,
  username: null,
  room_id: null,
  match_id: null,
}

export type RpcOutcome = { ok: true; reply: Uint8Array } | { ok: false; error: string }
