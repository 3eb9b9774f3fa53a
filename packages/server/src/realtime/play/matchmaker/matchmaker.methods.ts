import type { JsonObject } from '@guildhall/contract'
import type { CallContext } from '../../../kernel/play/calls.ts'
import type { RoomHooks } from '../../../kernel/play/room-hooks.ts'
import { accountKey } from '../accounts.port.ts'
import type { Coordination } from '../coordination.port.ts'
import type { RoomRequests } from '../rooms/requests/request-queue.ts'
import type { BuiltInAnswer, BuiltInMethod, BuiltInMethods } from '../rpc/built-in.ts'
import type { Caller } from '../rpc/caller.ts'
import type { Matchmaker } from './matchmaker.ts'
import type { Added } from './tickets/adding.ts'

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

/** The RPC methods `matchmaker.*`, where the tickets are. */
export function matchmakerMethods(matchmaker: Matchmaker): BuiltInMethods {
  /** What becomes of a call where the tickets are. */
  function acceptHere(context: CallContext, ticketId: unknown, token: unknown): BuiltInAnswer {
    const account = accountKey(context)
    const isText = typeof ticketId === 'string' && typeof token === 'string'
    const roomId = isText ? matchmaker.accept(account, ticketId, token) : undefined
    if (roomId === undefined) return { refusal: 'match handoff not found or expired' }
    return { reply: { accepted: true, match_id: roomId } }
  }

  return {
    'matchmaker.add': {
      fields: criteriaFields,
      call({ context }, payload) {
        const added = matchmaker.add(context, payload)
        return added instanceof Promise ? added.then(answerOf) : answerOf(added)
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
        return acceptHere(context, ticket_id, join_token)
      },
    },
  }
}

type AcceptDeps = {
  hooks: RoomHooks
  requests: RoomRequests
  coordination: Pick<Coordination, 'call'>
  /** The methods of this node. */
  methods: BuiltInMethods
}

/** `matchmaker.accept` as its caller's node serves it. */
export function acceptMethod(deps: AcceptDeps): BuiltInMethod {
  const { hooks, requests, coordination } = deps

  /** Runs with the room requests of the connection; the reply stands before ROOM_JOINED. */
  function accept(caller: Caller, payload: JsonObject, token: string): Promise<BuiltInAnswer> {
    const answer = Promise.withResolvers<BuiltInAnswer>()
    const { participant } = caller.context
    const isQueued = requests.run(participant, async () => {
      const call = { method: 'matchmaker.accept', caller, payload }
      const answered = await coordination.call(call, deps.methods)
      if ('refusal' in answered) return answer.resolve(answered)
      const done = Promise.withResolvers<void>()
      const { match_id } = answered.reply as { match_id: number }
      const after = () => void requests.redeem(participant, match_id, token).finally(done.resolve)
      answer.resolve({ ...answered, after })
      await done.promise
    })
    if (!isQueued) answer.resolve({ refusal: 'too many requests' })
    return answer.promise
  }

  return {
    fields: ['ticket_id', 'join_token'],
    call(caller, payload) {
      const { join_token } = payload
      if (typeof join_token !== 'string' || !tokenForm.test(join_token)) {
        return { refusal: 'invalid match join token' }
      }
      if (!hooks.admit()) return { refusal: 'game script unavailable' }
      return accept(caller, payload, join_token)
    },
  }
}

function answerOf(added: Added): BuiltInAnswer {
  return 'refusal' in added ? added : { reply: { ticket_id: added.ticket.id } }
}
