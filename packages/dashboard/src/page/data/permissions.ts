import type { Route } from '@guildhall/contract'
import { session, useSession } from '../session/session.ts'

/** Whether whoever is signed in may call the route, as the table says. */
export function useMay(route: Route | undefined): boolean {
  const role = useSession()?.role
  return route !== undefined && may(role, route)
}

export function mayNow(route: Route): boolean {
  return may(session.current()?.role, route)
}

function may(role: 'admin' | 'viewer' | undefined, { access }: Route): boolean {
  return access === 'admin' ? role === 'admin' : role !== undefined || access === 'public'
}
