import { z } from 'zod'
import { optional } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Opaque credentials of one session. The access token is the bearer of every player route. */
export const SessionTokens = once(() =>
  z.strictObject({
    token: z.string().meta({ description: 'Access token: the bearer of player routes' }),
    refresh_token: z.string().meta({ description: 'Exchanged once for a new pair' }),
    user_id: z.string(),
    username: z.string(),
    created: z.boolean().meta({ description: 'True when this request registered the account' }),
  }),
)
export type SessionTokens = z.output<ReturnType<typeof SessionTokens>>

/** Bounds of secrets in bodies are not published: every unusable one is the same 401. */
const RefreshBody = once(() => z.strictObject({ refresh_token: z.string() }))
const LogoutBody = once(() => z.strictObject({ refresh_token: optional(z.string()) }))

export const sessionsApi = defineApi({
  refresh: {
    method: 'POST',
    path: '/v1/session/refresh',
    access: 'public',
    noStore: true,
    crossOrigin: true,
    summary: 'Exchanges a refresh token for a new pair; both old tokens stop at once',
    body: RefreshBody,
    ok: SessionTokens,
    errors: ['authentication_failed'],
  },
  logout: {
    method: 'POST',
    path: '/v1/session/logout',
    access: 'public',
    noStore: true,
    crossOrigin: true,
    bearer: 'optional',
    summary: 'Ends the session that the bearer, the refresh token or both name',
    body: LogoutBody,
    bodyNeeded: 'optional',
    errors: ['authentication_failed'],
  },
})
