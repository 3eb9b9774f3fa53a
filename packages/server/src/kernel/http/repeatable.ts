import { hash } from 'node:crypto'
import type { AdminWrite, Route } from '@guildhall/contract'
import type { FastifyRequest } from 'fastify'
import type { HumanPrincipal } from '../auth/principal.ts'
import { refuse } from '../failure.ts'
import type { HeaderLines } from './exchange.ts'
import type { RepeatableRequest } from './mutation.ts'

/** Whether a route changes something for an operator: those may be repeated under a key. */
export function isMutation(route: Route): route is AdminWrite {
  return route.access === 'admin' && route.method !== 'GET'
}

type Repeatable = {
  request: FastifyRequest
  lines: HeaderLines
  principal: HumanPrincipal
  route: Route
  bytes: Buffer
}

/** Names a request by who sends it, where, and its Idempotency-Key. */
export function repeatableRequest(given: Repeatable): RepeatableRequest {
  const { request, lines, principal, route, bytes } = given
  const [key = '', ...more] = lines.idempotencyKeys
  if (more.length > 0 || !/^[\x21-\x7e]{1,128}$/.test(key)) {
    throw refuse.invalid('Idempotency-Key must be one of 1..128 visible ASCII characters')
  }
  return {
    principal: `${principal.role}:${principal.username}`,
    target: `${route.method} ${request.raw.url ?? ''}`,
    key,
    body_digest: hash('sha256', bytes, 'buffer'),
    recordsAnswer: route.answerHoldsSecret !== true,
  }
}
