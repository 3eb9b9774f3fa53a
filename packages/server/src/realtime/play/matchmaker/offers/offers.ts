import { atEndOfTurn, type Clock, type Timer } from '../../../../kernel/clock.ts'
import type { TicketProperties } from '../../../../kernel/play/room-hooks.ts'
import { fits, type Query } from '../../query/query.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import { propertyOf } from '../tickets/criteria.ts'
import { byAge, type Handoff, isGood, type Ticket } from '../tickets/ticket.ts'
import type { TicketQueue } from '../tickets/ticket-queue.ts'
import { ticketFrom } from '../tickets/ticket-record.ts'
import type { Handoffs } from './handoffs.ts'
import { formedOf, type Recipients, recipientsOf } from './match-order.ts'
import {
  hasPlaces,
  type Offer,
  offeredRoom,
  offerFrom,
  recordOfOffer,
  type SharedOffers,
} from './offer.ts'

export type NewOffer = {
  roomId: number
  seats: number
  /** What was asked for, as other nodes read it. */
  asked: string
  query: Query
  properties: TicketProperties
  ttlMs: number
}

export type Offers = SharedOffers & {
  /** The id of the offer, or why there is none. */
  add(offer: NewOffer): { ticketId: string } | { refusal: 'not_found' | 'conflict' }
  cancel(id: string): boolean
  status(id: string): { seats: number; waiting: number } | null
  /**
   * Takes waiting tickets, oldest first. Yields where `mustPause` says so. What it may look at
   * between two passes over everybody is bounded; then it goes on where it stopped.
   */
  fill(waiting: readonly Ticket[], pass: OfferPass): Iterable<void>
  /** A token of a ticket is used or over. */
  tokenOver(handoff: Handoff): void
  readonly size: number
  stop(): void
}

export type OfferPass = {
  /** It is a pass over everybody; else one from new tickets. */
  isWhole: boolean
  mustPause(): boolean
}

export type OffersDeps = {
  clock: Clock
  rooms: Rooms
  queue: TicketQueue
  handoffs(): Handoffs
  accounts: Recipients
  /** An offer has taken a ticket. */
  taken(ticket: Ticket): void
  /** Has another node take tickets into its offer: those that it has not taken; or it is silent. */
  order(boot: string, offerId: string, group: readonly Ticket[]): Promise<Ticket[] | 'silent'>
  /** Something about the offers of this node's rooms may have changed. */
  changed(): void
  ttl: { default_ttl_ms: number; max_ttl_ms: number }
  membersMax: number
  newId(): string
}

const expiryEveryMs = 100
/**
 * Tickets that offers look at between two passes over everybody. Without it thousands of offers
 * would be compared with each ticket before anybody else finds a group.
 */
const looksMax = 50_000

export function createOffers(deps: OffersDeps): Offers {
  const { clock, rooms, queue, membersMax } = deps
  /** The oldest first. */
  let offers = new Map<string, Offer>()
  const byRoom = new Map<number, Offer>()
  const takenBy = new WeakMap<Ticket, Offer>()
  /** Tickets of other nodes that have tokens of an offer: an order may come again. */
  const ordered = new Map<string, Ticket>()
  /** Tickets that offers of other nodes are to take, from this turn. */
  let orders = new Map<Offer, Ticket[]>()
  /** Where the next pass goes on: with the tickets of this offer that are younger. */
  let rest: { offerId: string; ticket: Ticket } | undefined
  let looksLeft = looksMax
  /** While there are offers. */
  let expiry: Timer | undefined

  function end({ id, room, boot }: Offer): void {
    // Behind the end of this offer the room may have another one.
    if (!offers.delete(id) || boot !== undefined) return
    byRoom.delete(room.id)
    deps.changed()
  }

  /** An offer of a room that has ended is over. */
  function live(id: string): Offer | undefined {
    const offer = offers.get(id)
    if (offer === undefined || !offer.room.isOver) return offer
    end(offer)
    return undefined
  }

  function ofThisNode(id: string): Offer | undefined {
    const offer = live(id)
    return offer?.boot === undefined ? offer : undefined
  }

  /** Others may have joined the room since the offer was made, so its places are counted again. */
  function hasRoomFor({ room, seats }: Offer, { size, minCount, maxCount }: Ticket): boolean {
    const total = room.places + seats
    return size <= seats && hasPlaces(room, size) && total >= minCount && total <= maxCount
  }

  function takes(offer: Offer, ticket: Ticket): boolean {
    return (
      ticket.criteria.backfill &&
      hasRoomFor(offer, ticket) &&
      fits(offer.query, ticket) &&
      ticket.acceptsValues(offer)
    )
  }

  function take(offer: Offer, ticket: Ticket): void {
    if (offer.boot === undefined) {
      queue.finish(ticket, 'matched')
      deps.taken(ticket)
      giveTokens(offer, ticket, deps.accounts)
      return
    }
    hold(offer, ticket)
    queue.finish(ticket, 'matched')
    if (orders.size === 0) atEndOfTurn(sendOrders)
    const group = orders.get(offer)
    if (group !== undefined) group.push(ticket)
    else {
      offer.unanswered += 1
      orders.set(offer, [ticket])
    }
  }

  function hold(offer: Offer, { size }: Ticket): void {
    offer.seats -= size
    offer.room.places += size
  }

  function giveTokens(offer: Offer, ticket: Ticket, to: Recipients): void {
    const room = rooms.byId(offer.room.id)
    if (room === undefined) return
    hold(offer, ticket)
    takenBy.set(ticket, offer)
    const handoffs = deps.handoffs()
    for (const account of ticket.accounts) handoffs.give(ticket, account, room, to)
    offer.waiting += ticket.handoffs.length
    // Who has no connection any more leaves the seat free.
    offer.seats += ticket.size - ticket.handoffs.length
    deps.changed()
  }

  function sendOrders(): void {
    const sent = orders
    orders = new Map()
    for (const [offer, group] of sent) void sendOrder(offer, group)
  }

  async function sendOrder(offer: Offer, group: readonly Ticket[]): Promise<void> {
    const left = await deps.order(offer.boot ?? '', offer.id, group)
    offer.unanswered -= 1
    // A node that is there says again what it offers.
    if (left === 'silent') return end(offer)
    for (const { size } of left) {
      offer.seats += size
      offer.room.places -= size
    }
  }

  function* fillOne(
    { id }: Offer,
    waiting: readonly Ticket[],
    mustPause: () => boolean,
  ): Generator<void> {
    for (const ticket of waiting) {
      if (mustPause()) yield
      // It may have ended, or its tokens, in a pause.
      const offer = live(id)
      if (offer === undefined || offer.seats === 0) return
      if (looksLeft === 0) {
        rest = { offerId: id, ticket }
        return
      }
      looksLeft -= 1
      if (ticket.state === 'queued' && takes(offer, ticket)) take(offer, ticket)
    }
  }

  /** The offers from where the last pass stopped, and those before it behind them. */
  function inTurn(): { first: Offer[]; before: Offer[] } {
    const all = [...offers.values()]
    const at = all.findIndex(({ id }) => id === rest?.offerId)
    return { first: all.slice(Math.max(at, 0)), before: all.slice(0, Math.max(at, 0)) }
  }

  /** Those that the first offer has not looked at. */
  function unseen(waiting: readonly Ticket[], offer: Offer | undefined): readonly Ticket[] {
    if (rest === undefined || rest.offerId !== offer?.id) return waiting
    const { ticket } = rest
    return waiting.filter((other) => byAge(other, ticket) > 0)
  }

  function put(offer: Offer): void {
    offers.set(offer.id, offer)
    expiry ??= clock.every(expiryEveryMs, expire)
  }

  function expire(): void {
    const nowMs = clock.monotonicMs()
    for (const offer of [...offers.values()]) {
      if (offer.expiresMs <= nowMs || offer.room.isOver) end(offer)
    }
    if (offers.size === 0) stop()
  }

  function stop(): void {
    expiry?.cancel()
    expiry = undefined
  }

  return {
    add({ roomId, seats, asked, query, properties, ttlMs }) {
      const found = rooms.byId(roomId)
      if (found === undefined) return { refusal: 'not_found' }
      const room = offeredRoom(found, membersMax)
      if (byRoom.has(roomId) || !hasPlaces(room, seats)) return { refusal: 'conflict' }
      const createdMs = clock.monotonicMs()
      const offer: Offer = {
        ...{ id: deps.newId(), room, boot: undefined, asked, seats, query },
        ...{ waiting: 0, unanswered: 0 },
        get: (field) => propertyOf(properties, field),
        createdMs,
        expiresMs: createdMs + ttlMs,
      }
      put(offer)
      byRoom.set(roomId, offer)
      deps.changed()
      return { ticketId: offer.id }
    },
    cancel(id) {
      const offer = ofThisNode(id)
      if (offer !== undefined) end(offer)
      return offer !== undefined
    },
    status(id) {
      const offer = ofThisNode(id)
      return offer === undefined ? null : { seats: offer.seats, waiting: offer.waiting }
    },
    *fill(waiting, { isWhole, mustPause }) {
      if (isWhole) looksLeft = looksMax
      if (offers.size === 0 || looksLeft === 0) return
      // Only those that may be taken are looked at.
      const willing = waiting.filter(
        ({ state, criteria }) => state === 'queued' && criteria.backfill,
      )
      const { first, before } = inTurn()
      const [oldest, ...younger] = first
      const left = unseen(willing, oldest)
      rest = undefined
      if (oldest !== undefined) yield* fillOne(oldest, left, mustPause)
      for (const offer of [...younger, ...before]) {
        if (rest !== undefined) return
        yield* fillOne(offer, willing, mustPause)
      }
    },
    tokenOver({ ticket, state }) {
      const offer = takenBy.get(ticket)
      if (offer === undefined) return
      if (!ticket.handoffs.some(isGood)) ordered.delete(orderKey(offer, ticket))
      offer.waiting -= 1
      if (state === 'expired') offer.seats += 1
      if (offer.seats === 0 && offer.waiting === 0) end(offer)
      else deps.changed()
    },
    records() {
      const nowMs = clock.monotonicMs()
      return Array.from(byRoom.values(), (offer) => recordOfOffer(offer, nowMs))
    },
    offered(boot, { isAll, records, over }) {
      const nowMs = clock.monotonicMs()
      const named = new Set(isAll ? records.map(({ id }) => id) : over)
      for (const offer of [...offers.values()]) {
        if (offer.boot === boot && named.has(offer.id) !== isAll) end(offer)
      }
      let isNew = false
      for (const record of records) {
        const known = offers.get(record.id)
        // What it was sent since is not in it.
        if (known !== undefined && (known.boot !== boot || known.unanswered > 0)) continue
        const offer = offerFrom(record, boot, nowMs)
        if (offer === undefined) continue
        isNew ||= known === undefined
        put(offer)
      }
      if (!isNew) return
      const oldest = [...offers].toSorted(([, a], [, b]) => a.createdMs - b.createdMs)
      offers = new Map(oldest)
    },
    forget(isMeant) {
      for (const offer of [...offers.values()]) {
        if (offer.boot !== undefined && isMeant(offer.boot)) end(offer)
      }
    },
    fillOrder({ offer_id, tickets, members }) {
      const offer = ofThisNode(offer_id)
      if (offer === undefined) return undefined
      const known = { ttl: deps.ttl, nowMs: clock.monotonicMs() }
      const to = recipientsOf({ members })
      const group = tickets.flatMap((record) => {
        const before = ordered.get(orderKey(offer, record))
        if (before !== undefined) return before
        const ticket = ticketFrom(record, known)
        if (ticket === undefined) return []
        if (hasRoomFor(offer, ticket)) giveTokens(offer, ticket, to)
        if (ticket.handoffs.length > 0) ordered.set(orderKey(offer, ticket), ticket)
        return ticket
      })
      return formedOf(offer.room.id, group, clock.nowUnixMs())
    },
    get size() {
      return offers.size
    },
    stop,
  }
}

function orderKey(offer: Offer, ticket: { id: string }): string {
  return `${offer.id} ${ticket.id}`
}
