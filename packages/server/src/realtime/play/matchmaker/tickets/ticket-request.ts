import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@guildhall/contract'
import type { HookAnswer, TicketRequest } from '../../../../kernel/play/room-hooks.ts'
import { type AccountKey, guestOf } from '../../accounts.port.ts'
import { isObject, refusalFrom } from '../../rooms/requests/label-answers.ts'
import type { Criteria } from './criteria.ts'

/** What its owner reads when the script has failed, or wants a ticket that there cannot be. */
export const ticketRefused = { refusal: 'ticket refused' } as const

/** What a script may change about a ticket. */
const replaceable: readonly string[] = [
  'query',
  'wide_query',
  'properties',
  'min_count',
  'max_count',
  'count_multiple',
  'ttl_ms',
] satisfies (keyof TicketRequest)[]

/** A sound payload with every member, as `on_matchmaker_add` is asked about it. */
export function requestOf(
  payload: JsonObject,
  criteria: Criteria,
  accounts: readonly AccountKey[],
): TicketRequest {
  const query = textOf(payload.query) ?? ''
  return {
    query,
    wide_query: textOf(payload.wide_query) ?? query,
    properties: criteria.properties,
    min_count: criteria.minCount,
    max_count: criteria.maxCount,
    count_multiple: criteria.countMultiple,
    backfill: criteria.backfill,
    party_id: textOf(payload.party_id) ?? null,
    ttl_ms: criteria.ttlMs,
    user_ids: accounts.map((account) => (guestOf(account) === undefined ? account : null)),
  }
}

/**
 * The payload as the script wants it. What it may not change it may return as it was, so that a
 * request that was changed in place is an answer too.
 */
export function changedPayload(
  answer: HookAnswer,
  payload: JsonObject,
  request: TicketRequest,
): { payload: JsonObject } | { refused: string; problem?: string | undefined } {
  if (answer.status === 'failed') return failed
  const value = answer.status === 'answered' ? (answer.value ?? null) : null
  if (value === null) return { payload }
  if (!isObject(value)) return { ...failed, problem: 'it returned neither a request nor nothing' }
  if (Object.hasOwn(value, 'refuse')) {
    const said = refusalFrom(value)
    if (said.verdict === 'refused') return { refused: said.text ?? '' }
    return { ...failed, problem: said.problem }
  }
  const given = Object.entries(value)
  const wrong = given.find(
    ([name, member]) => !replaceable.includes(name) && !isAsAsked(request, name, member),
  )
  if (wrong !== undefined) {
    const problem = `it returned a request with another ${wrong[0]}, which it may not change`
    return { ...failed, problem }
  }
  const changes = given.filter(([name]) => replaceable.includes(name))
  return { payload: { ...payload, ...Object.fromEntries(changes) } }
}

const failed = { refused: ticketRefused.refusal } as const

function isAsAsked(request: TicketRequest, name: string, member: unknown): boolean {
  const asked = Object.entries(request).find(([each]) => each === name)
  return asked !== undefined && isDeepStrictEqual(asked[1], member)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
