import { hash } from 'node:crypto'
import type { AdminWrite, Route } from '@guildhall/contract'
import { type HumanPrincipal, operatorKey } from '../auth/principal.ts'
import { sha256 } from '../auth/sha256.ts'
import { refuse } from '../failure.ts'
import type { IdempotentRequest, RecordedAnswer } from '../mutation.ts'
import type { Exchange } from './exchange.ts'

/** Whether a route changes something for an operator: those may be repeated under a key. */
export function isMutation(route: Route): route is AdminWrite {
  return route.access === 'admin' && route.method !== 'GET' && route.auditsAttempts !== true
}

type Given = {
  exchange: Exchange
  actor: HumanPrincipal
  route: Route
  bytes: Buffer
  recordOf(answer: unknown): RecordedAnswer
}

/** Names a request by who sends it, where, and its Idempotency-Key. */
export function idempotentRequest(given: Given): IdempotentRequest {
  const { exchange, actor, route, bytes, recordOf } = given
  const [key = '', ...more] = exchange.head.idempotencyKeys
  if (more.length > 0 || !/^[\x21-\x7e]{1,128}$/.test(key)) {
    throw refuse.invalid('Idempotency-Key must be one of 1..128 visible ASCII characters')
  }
  return {
    principal: operatorKey(actor),
    target: `${route.method} ${named(exchange.message.url ?? '')}`,
    key,
    body_digest: sha256(bytes),
    recordsAnswer: route.answerHoldsSecret !== true,
    recordOf,
  }
}

/** Longest path with its query that is kept as it was sent. */
const urlLettersMax = 1024

/** A longer one is known by its digest, because PostgreSQL indexes no text of any length. */
function named(url: string): string {
  return url.length <= urlLettersMax ? url : `sha256:${hash('sha256', url)}`
}
