import type { CallContext } from '../../../kernel/play/calls.ts'
import type { RoomHooks } from '../../../kernel/play/room-hooks.ts'
import { accountKey } from '../accounts.port.ts'
import type { RoomRequests } from '../rooms/requests/request-queue.ts'
import type { BuiltInAnswer, BuiltInMethods } from '../rpc/built-in.ts'
import type { Matchmaker } from './matchmaker.ts'

type MatchmakerMethodsDeps = {
  matchmaker: Matchmaker
  hooks: RoomHooks
  requests: RoomRequests
}

const criteriaFields = [
  'query',
  'wide_query',
  'properties',
  'min_count',
  'max_count',
  'count_multiple',
  'backfill',
  'party_id',
  'ttl_ms',
] as const

const tokenForm = /^[A-Za-z0-9_-]{43}$/

/** The RPC methods `matchmaker.*`. */
export function matchmakerMethods(deps: MatchmakerMethodsDeps): BuiltInMethods {
  const { matchmaker, hooks, requests } = deps

  /** Runs with the room requests of the connection; the reply stands before ROOM_JOINED. */
  function accept(context: CallContext, ticketId: unknown, token: string): Promise<BuiltInAnswer> {
    const answer = Promise.withResolvers<BuiltInAnswer>()
    const done = Promise.withResolvers<void>()
    const isQueued = requests.run(context.participant, () => {
      const handoff = find(context, ticketId, token)
      if (handoff === undefined) {
        answer.resolve({ refusal: 'match handoff not found or expired' })
        return undefined
      }
      matchmaker.handoffs.use(handoff)
      const reply = { accepted: true, match_id: handoff.room.id }
      const after = () => {
        matchmaker.enter(context.participant, handoff)
        done.resolve()
      }
      answer.resolve({ reply, after })
      return done.promise
    })
    if (!isQueued) answer.resolve({ refusal: 'too many requests' })
    return answer.promise
  }

  function find(context: CallContext, ticketId: unknown, token: string) {
    const account = accountKey(context)
    if (typeof ticketId !== 'string') return undefined
    return matchmaker.handoffs.find({ token, ticketId, account })
  }

  return {
    'matchmaker.add': {
      fields: criteriaFields,
      call({ context }, payload) {
        const added = matchmaker.add(accountKey(context), payload)
        return 'refusal' in added ? added : { reply: { ticket_id: added.ticket.id } }
      },
    },
    'matchmaker.cancel': {
      fields: ['ticket_id'],
      call({ context }, { ticket_id }) {
        const account = accountKey(context)
        const cancelled = typeof ticket_id === 'string' && matchmaker.cancel(account, ticket_id)
        return { reply: { cancelled } }
      },
    },
    'matchmaker.status': {
      fields: ['ticket_id'],
      call({ context }, { ticket_id }) {
        const account = accountKey(context)
        const status = typeof ticket_id === 'string' && matchmaker.status(account, ticket_id)
        return status ? { reply: status } : { refusal: 'ticket not found' }
      },
    },
    'matchmaker.accept': {
      fields: ['ticket_id', 'join_token'],
      call({ context }, { ticket_id, join_token }) {
        if (typeof join_token !== 'string' || !tokenForm.test(join_token)) {
          return { refusal: 'invalid match join token' }
        }
        if (!hooks.admit()) return { refusal: 'game script unavailable' }
        return accept(context, ticket_id, join_token)
      },
    },
  }
}
