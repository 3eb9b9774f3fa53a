import { z } from 'zod'
import { reference } from '../values/fields.ts'
import { once } from '../values/once.ts'
import { roles, scopes } from './principals.ts'
import { defineApi } from './route.ts'

const HumanOperator = once(() => z.strictObject({ username: z.string(), role: z.enum(roles) }))
const KeyOperator = once(() =>
  z.strictObject({
    actor_type: z.literal('api_key'),
    credential_id: z.string(),
    key_name: z.string(),
    scopes: z.array(z.enum(scopes)),
    generation: z.int().min(1),
  }),
)

export const consoleApi = defineApi({
  login: {
    method: 'POST',
    path: '/console/v1/login',
    access: 'public',
    noStore: true,
    bodyBytesMax: 65_536,
    summary: 'Exchanges operator credentials for a console token',
    body: () => z.strictObject({ username: reference(), password: reference() }),
    ok: () =>
      z.strictObject({
        token: z.string(),
        role: z.enum(roles),
        expires_in_sec: z.int().min(1),
      }),
    errors: ['authentication_failed', 'rate_limited'],
  },
  logout: {
    method: 'POST',
    path: '/console/v1/logout',
    access: 'operator',
    bearer: 'handed on',
    scope: 'no key',
    audit: 'console.logout',
    summary: 'Ends the token that the request carries, at once',
  },
  me: {
    method: 'GET',
    path: '/console/v1/me',
    access: 'operator',
    scope: 'any key',
    summary: 'Who the bearer is',
    ok: () => z.union([HumanOperator(), KeyOperator()]),
  },
})
