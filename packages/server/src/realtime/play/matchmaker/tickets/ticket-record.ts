import { parseExact } from '@guildhall/contract'
import type { AccountKey } from '../../accounts.port.ts'
import { isObject } from '../../rooms/requests/label-answers.ts'
import { keptCriteria, readCriteria } from './criteria.ts'
import { isGood, Ticket } from './ticket.ts'

/** A ticket as it passes from node to node. Times are ages: clocks of nodes differ. */
export type TicketRecord = {
  id: string
  /** Grows with every change; of two the higher one is the newer one. */
  revision: number
  /** Of one that is over nothing else is kept. */
  state: 'queued' | 'matched' | 'over'
  /** The payload of `matchmaker.add`. */
  asked: string
  /** The submitter first. */
  accounts: AccountKey[]
  party_id: string | null
  waited_ms: number
  tokens: { account: AccountKey; token: string; room_id: number; expires_at: number }[]
}

export function recordOfTicket(ticket: Ticket, nowMs: number): TicketRecord {
  const tokens = ticket.handoffs.filter(isGood)
  const { id, revision, asked } = ticket
  // A match whose tokens nobody has yet is made again by the next coordinator.
  const isWaiting =
    ticket.state === 'queued' || (ticket.state === 'matched' && !ticket.isHandedOver)
  const isMatched = ticket.state === 'matched' && tokens.length > 0
  const over = isMatched ? 'matched' : 'over'
  return {
    ...{ id, revision, asked },
    state: isWaiting ? 'queued' : over,
    accounts: [...ticket.accounts],
    party_id: ticket.partyId ?? null,
    waited_ms: Math.max(0, Math.round((ticket.finishedMs ?? nowMs) - ticket.createdMs)),
    tokens: tokens.map(({ account, token, room, expiresAtUnixMs }) => {
      return { account, token, room_id: room.id, expires_at: expiresAtUnixMs }
    }),
  }
}

type Ttl = { default_ttl_ms: number; max_ttl_ms: number }

/** The ticket of a record; undefined for one that nobody could have asked for. */
export function ticketFrom(
  record: TicketRecord,
  { ttl, nowMs }: { ttl: Ttl; nowMs: number },
): Ticket | undefined {
  const payload = payloadOf(record)
  const criteria = isObject(payload) ? readCriteria(payload, ttl) : 'invalid JSON body'
  if (typeof criteria === 'string') return undefined
  const ticket = new Ticket({
    id: record.id,
    asked: record.asked,
    criteria: keptCriteria(criteria),
    accounts: record.accounts,
    partyId: record.party_id ?? undefined,
    createdMs: nowMs - record.waited_ms,
  })
  ticket.revision = record.revision
  return ticket
}

function payloadOf({ asked }: TicketRecord): unknown {
  try {
    return parseExact(asked)
  } catch {
    return undefined
  }
}
