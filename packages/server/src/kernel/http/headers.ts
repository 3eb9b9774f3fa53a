/** Stands on every answer of the API. A document such as the dashboard brings its own policy. */
export const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const

export const strictTransportSecurity = 'max-age=31536000; includeSubDomains'

const requestIdForm = /^[A-Za-z0-9._-]{1,64}$/

/** The request's own id when it is harmless in a log line and a header. */
export function acceptableRequestId(sent: string | string[] | undefined): string | undefined {
  return typeof sent === 'string' && requestIdForm.test(sent) ? sent : undefined
}
