import type { Clock } from '../../kernel/clock.ts'
import { createDeadlineQueue } from '../session/deadline-queue.ts'
import { type AccountKey, byAge, type Ticket } from './ticket.ts'

/** The tickets of the node: those that wait, and for a while those that are over. */
export type TicketQueue = {
  add(ticket: Ticket): void
  /** Takes it out of the queue for good. */
  finish(ticket: Ticket, state: 'matched' | 'removed'): void
  byId(id: string): Ticket | undefined
  /** The queued ticket that an account has a place in. */
  ofAccount(account: AccountKey): Ticket | undefined
  ofParty(partyId: string): Ticket | undefined
  queued(): Iterable<Ticket>
  /** The queued tickets, oldest first, as of now. */
  byAge(): Ticket[]
  readonly size: number
}

const finishedVisibleMs = 60_000

export function createTicketQueue(clock: Clock): TicketQueue {
  const queued = new Set<Ticket>()
  const known = new Map<string, Ticket>()
  const accounts = new Map<AccountKey, Ticket>()
  const parties = new Map<string, Ticket>()
  const finished = createDeadlineQueue<Ticket>({ clock, delayMs: finishedVisibleMs }, (ticket) => {
    // As long as somebody may still come, the ticket tells where to.
    const handoffs = [...ticket.handoffs.values()]
    if (handoffs.some(({ state }) => state === 'valid')) finished.add(ticket)
    else known.delete(ticket.id)
  })

  return {
    add(ticket) {
      queued.add(ticket)
      known.set(ticket.id, ticket)
      for (const account of ticket.accounts) accounts.set(account, ticket)
      if (ticket.partyId !== undefined) parties.set(ticket.partyId, ticket)
    },
    finish(ticket, state) {
      if (!queued.delete(ticket)) return
      ticket.state = state
      ticket.finishedMs = clock.monotonicMs()
      for (const account of ticket.accounts) accounts.delete(account)
      if (ticket.partyId !== undefined) parties.delete(ticket.partyId)
      finished.add(ticket)
    },
    byId: (id) => known.get(id),
    ofAccount: (account) => accounts.get(account),
    ofParty: (partyId) => parties.get(partyId),
    queued: () => queued,
    byAge: () => [...queued].sort(byAge),
    get size() {
      return queued.size
    },
  }
}
