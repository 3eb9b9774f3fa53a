import type { Clock } from '../../../../kernel/clock.ts'
import type { TicketProperties } from '../../../../kernel/play/room-hooks.ts'
import { fits, type Query } from '../../query/query.ts'
import type { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import { propertyOf } from '../tickets/criteria.ts'
import { byAge, type Handoff, type Ticket } from '../tickets/ticket.ts'
import type { TicketQueue } from '../tickets/ticket-queue.ts'
import type { Handoffs } from './handoffs.ts'
import type { Recipients } from './match-order.ts'

/** A running room that takes players in. */
type Offer = {
  id: string
  room: Room
  seats: number
  query: Query
  /** One of its properties, for the queries of tickets. */
  get(field: string): unknown
  expiresMs: number
  /** Tokens that are given and not used. */
  waiting: number
}

export type NewOffer = {
  roomId: number
  seats: number
  query: Query
  properties: TicketProperties
  ttlMs: number
}

export type Offers = {
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
  const offers = new Map<string, Offer>()
  const byRoom = new Map<Room, Offer>()
  const takenBy = new WeakMap<Ticket, Offer>()
  /** Where the next pass goes on: with the tickets of this offer that are younger. */
  let rest: { offerId: string; ticket: Ticket } | undefined
  let looksLeft = looksMax

  function end(offer: Offer): void {
    // Behind the end of this offer the room may have another one.
    if (offers.delete(offer.id)) byRoom.delete(offer.room)
  }

  /** An offer of a room that has ended is over. */
  function live(id: string): Offer | undefined {
    const offer = offers.get(id)
    if (offer === undefined || offer.room.phase !== 'ended') return offer
    end(offer)
    return undefined
  }

  function hasPlaces({ members, heldPlaces, label }: Room, seats: number): boolean {
    const places = members.length + heldPlaces + seats
    return places <= membersMax && (label.max_players === 0 || places <= label.max_players)
  }

  /** Others may have joined the room since the offer was made, so its places are counted again. */
  function takes(offer: Offer, ticket: Ticket): boolean {
    const { room, seats, query } = offer
    const { criteria, size, minCount, maxCount } = ticket
    const total = room.members.length + room.heldPlaces + seats
    return (
      criteria.backfill &&
      size <= seats &&
      hasPlaces(room, size) &&
      total >= minCount &&
      total <= maxCount &&
      fits(query, ticket) &&
      ticket.acceptsValues(offer)
    )
  }

  function take(offer: Offer, ticket: Ticket): void {
    offer.seats -= ticket.size
    offer.room.heldPlaces += ticket.size
    queue.finish(ticket, 'matched')
    takenBy.set(ticket, offer)
    deps.taken(ticket)
    const handoffs = deps.handoffs()
    for (const account of ticket.accounts) handoffs.give(ticket, account, offer.room, deps.accounts)
    offer.waiting += ticket.handoffs.length
    // Who has no connection any more leaves the seat free.
    offer.seats += ticket.size - ticket.handoffs.length
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

  const expiry = clock.every(expiryEveryMs, () => {
    const nowMs = clock.monotonicMs()
    for (const offer of [...offers.values()]) {
      if (offer.expiresMs <= nowMs || offer.room.phase === 'ended') end(offer)
    }
  })

  return {
    add({ roomId, seats, query, properties, ttlMs }) {
      const room = rooms.byId(roomId)
      if (room === undefined) return { refusal: 'not_found' }
      if (byRoom.has(room) || !hasPlaces(room, seats)) return { refusal: 'conflict' }
      const expiresMs = clock.monotonicMs() + ttlMs
      const get = (field: string) => propertyOf(properties, field)
      const offer = { id: deps.newId(), room, seats, query, get, expiresMs, waiting: 0 }
      offers.set(offer.id, offer)
      byRoom.set(room, offer)
      return { ticketId: offer.id }
    },
    cancel(id) {
      const offer = live(id)
      if (offer !== undefined) end(offer)
      return offer !== undefined
    },
    status(id) {
      const offer = live(id)
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
      offer.waiting -= 1
      if (state === 'expired') offer.seats += 1
      if (offer.seats === 0 && offer.waiting === 0) end(offer)
    },
    get size() {
      return offers.size
    },
    stop: expiry.cancel,
  }
}
