import type { JsonObject } from './values/json.ts'

/** The payloads and replies of the RPC methods that the service answers itself. */

/** A row of `rooms.list`: a room that its script has listed, and that is open. */
export type RoomRow = {
  id: number
  /** Null for a room that was made without one. */
  name: string | null
  map: string
  mode: string
  players: number
  /** 0 = no limit of its own. */
  max_players: number
  properties: JsonObject
}

/** The payload of `rooms.list`. */
export type RoomQuery = {
  /** A query on the rooms' properties, e.g. `mode == "ffa" AND players < 8`. */
  filter?: string
  /** 1..100, default 20. */
  limit?: number
  /** Only rooms with a higher id. */
  after?: number
}

/** The reply of `rooms.list`; `next_after` is there if there are more rooms. */
export type RoomPage = { rooms: RoomRow[]; next_after?: number }

/** The payload of `matchmaker.add`. */
export type TicketCriteria = {
  query?: string
  wide_query?: string
  /** Integers beyond 2^53 are bigint; queries compare them as the nearest number. */
  properties?: { [name: string]: string | number | bigint }
  min_count?: number
  max_count?: number
  count_multiple?: number
  backfill?: boolean
  party_id?: string
  ttl_ms?: number
}

/** The reply of `matchmaker.status`. */
export type TicketStatus = {
  ticket_id: string
  state: 'queued' | 'matched' | 'removed'
  waited_ms: number
  candidates_seen: number
  last_reason: string | null
  match?: { match_id: number; join_token: string; expires_at: number }
}

/** The reply of most methods of a party. */
export type Party = {
  party_id: string
  leader_user_id: string
  open: boolean
  members: { user_id: string; username: string; online: boolean }[]
  invitations: { user_id: string; username: string; expires_at: number }[]
  requests: { user_id: string; username: string; expires_at: number }[]
  revision: number
}
