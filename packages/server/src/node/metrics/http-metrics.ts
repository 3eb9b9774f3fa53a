import type { Answer, AnsweredRequest } from '../../kernel/http/server.ts'
import { counterFamily, histogramFamily } from '../../kernel/metrics/metric-family.ts'

const secondsBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Sign-ins are requests of few routes, so their outcome is their status. */
const signIns: Readonly<Record<string, string>> = {
  '/v1/auth/device': 'device',
  '/v1/auth/custom': 'custom',
  '/v1/auth/email': 'email',
  '/v1/session/refresh': 'refresh',
  '/console/v1/login': 'console',
}
const signInOutcomes: Readonly<Record<number, string>> = {
  200: 'success',
  201: 'registered',
  401: 'failure',
  429: 'refused',
}

/** Counts and times requests by method, route and status. */
export function createHttpMetrics() {
  const requests = counterFamily(
    { name: 'http_requests_total', help: 'Answered requests, errors included.' },
    ['method', 'route', 'status'],
  )
  const seconds = histogramFamily(
    { name: 'http_request_duration_seconds', help: 'From the head of a request to its answer.' },
    secondsBounds,
    ['method', 'route'],
  )
  const refused = counterFamily(
    { name: 'http_refused_total', help: 'Refused requests by the check that refused them.' },
    ['reason'],
  )
  const attempts = counterFamily(
    { name: 'auth_attempts_total', help: 'Sign-ins and refreshes by their outcome.' },
    ['method', 'outcome'],
  )
  return {
    families: [requests.family, seconds.family, refused.family, attempts.family],
    record(request: Answer, describe: () => AnsweredRequest): void {
      const method = knownMethods.has(request.method) ? request.method : 'other'
      requests.add(1, method, request.route, String(request.status))
      seconds.observe(request.duration_ms / 1000, method, request.route)
      const reason = refusalReason(request.status, describe)
      if (reason !== undefined) refused.add(1, reason)
      const signIn = request.method === 'POST' ? signIns[request.route] : undefined
      const outcome = signInOutcomes[request.status]
      if (signIn !== undefined && outcome !== undefined) attempts.add(1, signIn, outcome)
    },
  }
}

function refusalReason(status: number, describe: () => AnsweredRequest): string | undefined {
  switch (status) {
    case 400:
      return 'invalid'
    case 401:
      return 'unauthenticated'
    case 403:
      return describe().with_key ? 'scope' : 'role'
    case 429:
      return 'admission'
    case 503:
      return 'gate'
    default:
      return undefined
  }
}
