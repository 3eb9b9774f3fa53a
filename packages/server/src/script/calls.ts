import type { Origin } from './hooks.ts'

/** Who a call is about. `participant` is 0 when there is no sender. */
export type CallContext = {
  participant: number
  user_id: string | null
  username: string | null
  room_id: number | null
  match_id: string | null
}

/** How a call ended. `lost` means that its worker is gone, or was never there. */
export type Outcome =
  | { readonly status: 'ok'; readonly reply: Uint8Array }
  | { readonly status: 'error' | 'timed_out' | 'too_large' | 'lost' }
  | { readonly status: 'failed_with_text'; readonly text: string }

export type RpcOutcome = { ok: true; reply: Uint8Array } | { ok: false; error: string }

export const nobody: CallContext = {
  participant: 0,
  user_id: null,
  username: null,
  room_id: null,
  match_id: null,
}

export type { Origin }
