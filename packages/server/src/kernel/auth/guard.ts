import type { Route } from '@guildhall/contract'
import { refuse } from '../failure.ts'
import type { OperatorPrincipal, PlayerPrincipal, Verifiers } from './principal.ts'

/**
 * Finds out who calls a route: the first step of every request (401). A token that begins like an
 * API key is only ever tried as one, and no credential of one door opens another.
 */
export async function authenticate(
  route: Route,
  bearer: string | undefined,
  verifiers: Verifiers,
): Promise<PlayerPrincipal | OperatorPrincipal | undefined> {
  if (route.access === 'public') return undefined
  const principal = bearer === undefined ? undefined : await verify(route, bearer, verifiers)
  if (principal === undefined) throw refuse.unauthenticated('missing or invalid credential')
  return principal
}

/** Whether that caller may use the route: the second step of every request (403). */
export function guard(route: Route, principal: PlayerPrincipal | OperatorPrincipal | undefined) {
  if (principal?.kind === 'api_key') return expectScope(route, principal.scopes)
  if (principal?.kind === 'human' && route.access === 'admin' && principal.role !== 'admin') {
    throw refuse.forbidden(`a ${principal.role} may not use an admin route`)
  }
}

function verify(route: Route, bearer: string, verifiers: Verifiers) {
  if (route.access === 'player') return verifiers.accessToken(bearer)
  if (bearer.startsWith('svc_')) return verifiers.apiKey(bearer)
  return verifiers.consoleToken(bearer)
}

function expectScope(route: Route, held: readonly string[]): void {
  const needed = route.access === 'admin' ? 'no key' : (route.scope ?? 'no key')
  if (needed === 'any key') return
  if (needed === 'no key') throw refuse.forbidden('API keys may not use this route')
  if (!held.includes(needed)) throw refuse.forbidden(`the API key lacks the scope ${needed}`)
}
