import type { JsonObject } from './values/json.ts'

/**
 * The bodies of the routes that players call, as plain types: a player's program has no schema
 * library, nor its types. The compiler holds them to the schemas of the routes
 * (`players.test.ts`).
 */

/** What a registration needs besides its credential. */
type Registration = {
  /** True registers an unknown credential; then `username` is required. */
  create?: boolean | null | undefined
  username?: string | null | undefined
  display_name?: string | null | undefined
  metadata?: JsonObject | null | undefined
}

/** Signs in by an id that the game's client keeps: a device's or the studio's own. */
export type CredentialSignInBody = Registration & { id: string }

/** Signs in by email address and password. */
export type EmailSignInBody = Registration & {
  email: string
  /** 8 to 1024 bytes. */
  password: string
}

/** Opaque credentials of one session. */
export type SessionTokens = {
  token: string
  refresh_token: string
  user_id: string
  username: string
  /** True when this request registered the account. */
  created: boolean
}

/** What players see of an account. */
export type Profile = {
  user_id: string
  username: string
  /** Absent when not set. */
  display_name?: string | undefined
}

/** At least one field; `display_name: null` clears it. */
export type ProfilePatchBody = {
  username?: string | null | undefined
  display_name?: string | null | undefined
}

/** 1 to 100 keys in total. */
export type LookupBody = {
  user_ids?: string[] | null | undefined
  usernames?: string[] | null | undefined
}
