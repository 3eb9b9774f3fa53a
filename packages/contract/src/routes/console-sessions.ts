import { z } from 'zod'
import { limit, presentReference, unixMs } from '../values/fields.ts'
import { offset, pageOf } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** A live session of an account, without anything that it could be used with. */
export const SessionRow = once(() =>
  z.strictObject({
    id: z
      .string()
      .meta({ description: 'Names the session for as long as it lives; no credential' }),
    created_at_unix_ms: unixMs.meta({ description: 'When the player signed in' }),
    access_expires_at_unix_ms: unixMs.meta({
      description: 'The end of the present access token; each refresh moves it',
    }),
    refresh_expires_at_unix_ms: unixMs.meta({
      description: 'The end of the session, unless it is refreshed before',
    }),
    connected: z.boolean().meta({
      description: 'Whether a realtime connection of the session is open on the node that answers',
    }),
  }),
)
export type SessionRow = z.output<ReturnType<typeof SessionRow>>

const sessionsPath = { id: presentReference() }

/** How many sessions were live, and are not any more. */
const RevokedSessions = once(() => z.strictObject({ sessions_revoked: z.int().min(0) }))

export const consoleSessionsApi = defineApi({
  list: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/sessions',
    access: 'operator',
    scope: 'accounts:read',
    summary: "An account's live sessions, newest first, then by id, largest first",
    params: () => z.strictObject(sessionsPath),
    query: () => z.strictObject({ limit: limit({ default: 50, cap: 200 }), offset }),
    ok: () => pageOf(SessionRow()),
    errors: ['not_found'],
  },
  lastSeen: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/last-seen',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'When a player last signed in or refreshed a session, however long that is ago',
    params: () => z.strictObject(sessionsPath),
    ok: () =>
      z.strictObject({
        seen_at_unix_ms: unixMs.nullable().meta({
          description: 'Null: never signed in, or not known any more',
        }),
      }),
    errors: ['not_found'],
  },
  revokeAll: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/sessions/revoke',
    access: 'admin',
    audit: 'accounts.sessions.revoke_all',
    summary: 'Ends every session of the account, which may sign in again',
    params: () => z.strictObject(sessionsPath),
    ok: RevokedSessions,
    errors: ['not_found'],
  },
  revoke: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/sessions/{session_id}/revoke',
    access: 'admin',
    audit: 'accounts.sessions.revoke',
    summary: 'Ends one session; one that has ended already stays as it is',
    params: () => z.strictObject({ ...sessionsPath, session_id: presentReference() }),
    ok: RevokedSessions,
    errors: ['not_found'],
  },
})
