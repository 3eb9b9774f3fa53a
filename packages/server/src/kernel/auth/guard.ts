import type { Route } from '@guildhall/contract'
import { refuse } from '../failure.ts'
import type { Awaitable } from '../time/awaitable.ts'
import type { OperatorPrincipal, PlayerPrincipal, Verifiers } from './principal.ts'

/**
 * Finds out who calls a route: undefined for nobody known. A token that begins like an API key is
 * only ever tried as one, and no credential of one kind is accepted as another.
 */
export function identify(
  route: Route,
  bearer: string | undefined,
  verifiers: Verifiers,
): Awaitable<PlayerPrincipal | OperatorPrincipal | undefined> {
  if (route.access === 'public' || bearer === undefined) return undefined
  if (route.access === 'player') return verifiers.accessToken(bearer)
  if (bearer.startsWith('svc_')) return verifiers.apiKey(bearer)
  return verifiers.consoleToken(bearer)
}

/** The first steps of every request: is the caller known (401), may they use the route (403)? */
export function guard(route: Route, principal: PlayerPrincipal | OperatorPrincipal | undefined) {
  if (route.access === 'public') return
  if (principal === undefined) throw refuse.unauthenticated('missing or invalid credential')
  if (principal.kind === 'api_key') return expectScope(route, principal.scopes)
  if (principal.kind === 'human' && route.access === 'admin' && principal.role !== 'admin') {
    throw refuse.forbidden(`a ${principal.role} may not use an admin route`)
  }
}

function expectScope(route: Route, held: readonly string[]): void {
  const needed = route.access === 'admin' ? 'no key' : (route.scope ?? 'no key')
  if (needed === 'any key') return
  if (needed === 'no key') throw refuse.forbidden('API keys may not use this route')
  if (!held.includes(needed)) throw refuse.forbidden(`the API key lacks the scope ${needed}`)
}
