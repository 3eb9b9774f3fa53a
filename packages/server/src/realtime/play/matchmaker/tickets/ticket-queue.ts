import type { Clock } from '../../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../../kernel/time/deadline-queue.ts'
import type { AccountKey } from '../../accounts.port.ts'
import { byAge, isGood, type Ticket, type TicketReason } from './ticket.ts'

/** The tickets of the node: those that wait, and for a while those that are over. */
export type TicketQueue = {
  add(ticket: Ticket): void
  /** Takes it out of the queue for good. */
  finish(ticket: Ticket, state: 'matched' | 'removed'): void
  /** Puts a matched ticket back where its age belongs: it has got no room. */
  giveBack(ticket: Ticket, reason: TicketReason): void
  /** Whether this very ticket is known; one of its id may have come from another node since. */
  has(ticket: Ticket): boolean
  /** A queued ticket, or one that its account may still see. */
  find(id: string, account: AccountKey): Ticket | undefined
  /** The queued ticket that an account has a place in. */
  ofAccount(account: AccountKey): Ticket | undefined
  ofParty(partyId: string): Ticket | undefined
  /** Every queued ticket, oldest first, and some that have left the queue since. */
  byAge(): readonly Ticket[]
  readonly size: number
  /** How many tickets were ever put back. */
  readonly givenBack: number
  /** All that are known. */
  all(): Iterable<Ticket>
  /** Forgets all of them. */
  clear(): void
}

const finishedVisibleMs = 60_000

/** `changed` hears of every ticket that has come, left or come back. */
export function createTicketQueue(
  clock: Clock,
  changed: (ticket: Ticket) => void = () => {},
): TicketQueue {
  const known = new Map<string, Ticket>()
  const accounts = new Map<AccountKey, Ticket>()
  const parties = new Map<string, Ticket>()
  /** Sorted; tickets that have left are taken out when they are too many. */
  let order: Ticket[] = []
  let size = 0
  let givenBack = 0
  const finished = createDeadlineQueue<Ticket>({ clock, delayMs: finishedVisibleMs }, (ticket) => {
    // As long as somebody may still come, the ticket says where to.
    if (ticket.handoffs.some(isGood)) finished.add(ticket)
    else known.delete(ticket.id)
  })

  /** Only tickets of the same instant are not in their order already. */
  function insert(ticket: Ticket): void {
    let at = order.length
    while (at > 0 && byAge(ticket, order[at - 1] ?? ticket) < 0) at -= 1
    order.splice(at, 0, ticket)
  }

  function isVisible(ticket: Ticket, account: AccountKey): boolean {
    if (ticket.finishedMs === undefined) return true
    if (clock.monotonicMs() - ticket.finishedMs < finishedVisibleMs) return true
    const handoff = ticket.handoffOf(account)
    return handoff !== undefined && isGood(handoff)
  }

  function add(ticket: Ticket): void {
    size += 1
    insert(ticket)
    known.set(ticket.id, ticket)
    for (const account of ticket.accounts) accounts.set(account, ticket)
    if (ticket.partyId !== undefined) parties.set(ticket.partyId, ticket)
    changed(ticket)
  }

  return {
    add,
    finish(ticket, state) {
      if (ticket.state !== 'queued') return
      size -= 1
      ticket.state = state
      ticket.finishedMs = clock.monotonicMs()
      for (const account of ticket.accounts) accounts.delete(account)
      if (ticket.partyId !== undefined) parties.delete(ticket.partyId)
      finished.add(ticket)
      if (size === 0) order = []
      changed(ticket)
    },
    giveBack(ticket, reason) {
      givenBack += 1
      finished.remove(ticket)
      // Those that have left the queue may still be in its order.
      order = order.filter((other) => other !== ticket)
      ticket.state = 'queued'
      ticket.finishedMs = undefined
      ticket.reason = reason
      add(ticket)
      // Others came meanwhile, or have looked without it and would now look at newer ones only.
      for (const other of order) other.alone = undefined
    },
    has: (ticket) => known.get(ticket.id) === ticket,
    find(id, account) {
      const ticket = known.get(id)
      const isTheirs = ticket?.accounts.includes(account) && isVisible(ticket, account)
      return isTheirs ? ticket : undefined
    },
    ofAccount: (account) => accounts.get(account),
    ofParty: (partyId) => parties.get(partyId),
    byAge() {
      if (order.length > 2 * size) order = order.filter(({ state }) => state === 'queued')
      return order.slice()
    },
    all: () => known.values(),
    clear() {
      for (const ticket of known.values()) finished.remove(ticket)
      for (const each of [known, accounts, parties]) each.clear()
      order = []
      size = 0
    },
    get size() {
      return size
    },
    get givenBack() {
      return givenBack
    },
  }
}
