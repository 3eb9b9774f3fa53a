/** Largest request target in bytes. */
export const targetBytesMax = 8192

/** Nearly every target: nothing in it can be written in two ways. */
const plainTarget = /^\/[A-Za-z0-9._~/-]*(?:\?[\x21-\x22\x24-\x7e]*)?$/

/**
 * The one spelling of a request target, so that the router and every rule about paths see the same:
 * `http://host/v1/%61ccount?x` is `/v1/account?x`. Each segment is decoded once; the query stays as
 * it was sent. Undefined for a target that is too long, has a fragment, a broken escape or escapes
 * that are not UTF-8.
 */
export function canonicalTarget(target: string): string | undefined {
  if (target.length > targetBytesMax || target.includes('#')) return undefined
  if (plainTarget.test(target)) return target
  const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(withoutOrigin(target)) ?? []
  const segments = path.split('/').map(canonicalSegment)
  return segments.includes(undefined) ? undefined : segments.join('/') + query
}

/** The part of a canonical target before its query. */
export function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query < 0 ? target : target.slice(0, query)
}

/** The part of a canonical target behind the question mark; empty when there is none. */
export function queryOf(target: string): string {
  const query = target.indexOf('?')
  return query < 0 ? '' : target.slice(query + 1)
}

/** `/a//b` and `/a/` are no paths of any route, whatever a router makes of them. */
export function hasEmptySegment(path: string): boolean {
  return path !== '/' && (path.endsWith('/') || path.includes('//'))
}

/** Clients that speak to a proxy send whole addresses; servers must understand them too. */
function withoutOrigin(target: string): string {
  const origin = /^https?:\/\/[^/?]*/i.exec(target)?.[0]
  if (origin === undefined) return target
  const rest = target.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

function canonicalSegment(segment: string): string | undefined {
  try {
    return encodeURIComponent(decodeURIComponent(segment))
  } catch {
    return undefined
  }
}
