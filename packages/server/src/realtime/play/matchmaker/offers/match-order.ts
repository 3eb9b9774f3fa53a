import type { CallContext } from '../../../../kernel/play/calls.ts'
import type { AccountKey, Accounts } from '../../accounts.port.ts'
import type { Ticket } from '../tickets/ticket.ts'
import type { TicketRecord } from '../tickets/ticket-record.ts'

/** A match that another node makes the room of. */
export type MatchOrder = {
  tickets: TicketRecord[]
  /** The connected participants of its accounts. */
  members: { account: AccountKey; participant: number; user_id: string | null }[]
}

/** Its room, and who got which token. */
export type FormedMatch = { room_id: number; tokens: MatchToken[] }

export type MatchToken = {
  ticket_id: string
  account: AccountKey
  token: string
  /** How long it is good, in milliseconds. */
  ttl_ms: number
}

/** What a match asks of its accounts. */
export type Recipients = Pick<Accounts, 'isOnline' | 'contextOf' | 'deliver'>

/** Those of an order; who asks for it sends them their tokens. */
export function recipientsOf({ members }: Pick<MatchOrder, 'members'>): Recipients {
  const contexts = new Map<AccountKey, CallContext>()
  for (const { account, participant, user_id } of members) {
    const nowhere = { room_id: null, match_id: null, username: null }
    contexts.set(account, { participant, user_id, ...nowhere })
  }
  return {
    isOnline: (account) => contexts.has(account),
    contextOf: (account) => contexts.get(account),
    deliver() {},
  }
}

/** What the tickets of an order have got here. */
export function formedOf(
  room_id: number,
  group: readonly Ticket[],
  nowUnixMs: number,
): FormedMatch {
  const tokens = group.flatMap(({ id, handoffs }) =>
    handoffs.map(({ account, token, expiresAtUnixMs }) => {
      return { ticket_id: id, account, token, ttl_ms: expiresAtUnixMs - nowUnixMs }
    }),
  )
  return { room_id, tokens }
}
