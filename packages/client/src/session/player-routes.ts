import type { accountsApi, sessionsApi, shellApi, signInApi } from '@guildhall/contract'

/** Method and path of a row of the contract; any other value does not compile. */
type Line<Row> = Row extends { method: infer M; path: infer P } ? { method: M; path: P } : never

/**
 * The routes that a player calls. The contract's tables need the schema library, which no player's
 * bundle should hold, so these lines repeat the two facts of each row under the compiler's eyes.
 */
export const signInRoutes = {
  device: { method: 'POST', path: '/v1/auth/device' },
  custom: { method: 'POST', path: '/v1/auth/custom' },
  email: { method: 'POST', path: '/v1/auth/email' },
} as const satisfies { [K in keyof typeof signInApi]: Line<(typeof signInApi)[K]> }

export const sessionRoutes = {
  refresh: { method: 'POST', path: '/v1/session/refresh' },
  logout: { method: 'POST', path: '/v1/session/logout' },
} as const satisfies { [K in keyof typeof sessionsApi]: Line<(typeof sessionsApi)[K]> }

export const accountRoutes = {
  get: { method: 'GET', path: '/v1/account' },
  patch: { method: 'PATCH', path: '/v1/account' },
  lookup: { method: 'POST', path: '/v1/users/lookup' },
} as const satisfies { [K in keyof typeof accountsApi]: Line<(typeof accountsApi)[K]> }

export const statusRoute = { method: 'GET', path: '/status' } as const satisfies Line<
  typeof shellApi.status
>
