/** What a browser game on another origin may do: routes with `crossOrigin`, without cookies. */
export type Cors = {
  /** Headers for an answer to this origin; undefined when the origin is not listed. */
  headersFor(origin: string | undefined): Record<string, string> | undefined
  preflightHeaders(methods: readonly string[]): Record<string, string>
}

/** @param origins Exact origins, or `['*']`; empty switches CORS off. */
export function createCors(origins: readonly string[]): Cors {
  const listed = new Set(origins)
  const any = listed.has('*')
  return {
    headersFor(origin) {
      if (origin === undefined || !(any || listed.has(origin))) return undefined
      return {
        'access-control-allow-origin': any ? '*' : origin,
        'access-control-expose-headers': 'Retry-After, X-Request-Id, X-Access-Expires-In',
        vary: 'Origin',
      }
    },
    preflightHeaders: (methods) => ({
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
    }),
  }
}
