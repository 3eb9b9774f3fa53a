import type { JsonObject } from './values/json.ts'

/** The JSON of MATCHMAKER_MATCHED (kind 26). */
export type MatchmakerMatched = {
  ticket_id: string
  /** The id of the room. */
  match_id: number
  join_token: string
  /** Unix milliseconds. */
  expires_at: number
}

/** The JSON on kind 27 about a ticket that left the queue without a match or a cancel. */
export type MatchmakerRemoved = {
  type: 'matchmaker.removed'
  ticket_id: string
  /** Its time is over; an account of it has no connection any more; its party changed. */
  reason: 'expired' | 'offline' | 'party'
}

/** The JSON of a stored notification on kind 27. */
export type NotificationPush = {
  type: 'notification'
  id: number
  code: number
  subject: string
  content: JsonObject
  created_at_unix_ms: number
  read_at_unix_ms: number | null
}

/** The JSON of a party's events on kind 27. */
export type PartyPush =
  | {
      type: 'party.invited'
      party_id: string
      leader_user_id: string
      leader_username: string
      expires_at: number
    }
  | {
      type: 'party.requested'
      party_id: string
      user_id: string
      username: string
      expires_at: number
    }
  | { type: 'party.request_refused'; party_id: string }
  | {
      type: 'party.presence.snapshot' | 'party.presence.delta' | 'party.presence.resync'
      party_id: string
      party_revision: number
      presence_sequence: number
      online_members: { user_id: string; username: string }[]
    }
  | {
      type: 'party.closed'
      party_id: string
      reason: 'closed' | 'removed' | 'expired' | 'coordinator_lost'
    }
  | { type: 'party.message'; party_id: string; sender_user_id: string; data: unknown }

/** The JSON of CHAT_EVENT (kind 28); null where a type of event does not say it. */
export type ChatPush = {
  version: 1
  type:
    | 'message.create'
    | 'message.update'
    | 'message.remove'
    | 'presence.join'
    | 'presence.leave'
    | 'typing'
    | 'access.revoked'
    | 'resync_required'
  channel_id: string
  event_id: number | null
  message: JsonObject | null
  presence: { presence_id: string; user_id: string } | null
  expires_at: number | null
  watermark_event_id: number | null
}
