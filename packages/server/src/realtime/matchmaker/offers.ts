import type { Clock } from '../../kernel/clock.ts'
import type { Query } from '../query/query.ts'
import type { Room } from '../rooms/room.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Properties } from './criteria.ts'
import type { Handoffs } from './handoffs.ts'
import type { Handoff, Ticket } from './ticket.ts'
import type { TicketQueue } from './ticket-queue.ts'

/** A running room that takes players in. */
type Offer = {
  id: string
  room: Room
  seats: number
  query: Query
  properties: Properties
  expiresMs: number
  /** Tokens that are given and not used. */
  waiting: number
}

export type NewOffer = {
  roomId: number
  seats: number
  query: Query
  properties: Properties
  ttlMs: number
}

export type Offers = {
  /** The id of the offer, or why there is none. */
  add(offer: NewOffer): { ticketId: string } | { refusal: 'not_found' | 'conflict' }
  cancel(id: string): boolean
  status(id: string): { seats: number; waiting: number } | null
  /** Takes waiting tickets, oldest first; the tickets it took. */
  fill(waiting: readonly Ticket[]): number
  /** A token of a ticket is used or over. */
  tokenOver(handoff: Handoff): void
  expire(nowMs: number): void
  readonly size: number
}

export type OffersDeps = {
  clock: Clock
  rooms: Rooms
  queue: TicketQueue
  handoffs(): Handoffs
  membersMax: number
  newId(): string
}

export function createOffers(deps: OffersDeps): Offers {
  const { clock, rooms, queue, membersMax } = deps
  const offers = new Map<string, Offer>()
  const byRoom = new Map<Room, Offer>()
  const takenBy = new Map<Ticket, Offer>()

  function end(offer: Offer): void {
    offers.delete(offer.id)
    byRoom.delete(offer.room)
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

  function takes({ room, seats, query, properties }: Offer, ticket: Ticket): boolean {
    const { criteria, size, minCount, maxCount } = ticket
    const total = room.members.length + room.heldPlaces + seats
    return (
      criteria.backfill &&
      size <= seats &&
      total >= minCount &&
      total <= maxCount &&
      query((field) => criteria.properties.get(field)) &&
      ticket.acceptsProperties(properties)
    )
  }

  function take(offer: Offer, ticket: Ticket): void {
    offer.seats -= ticket.size
    offer.room.heldPlaces += ticket.size
    queue.finish(ticket, 'matched')
    takenBy.set(ticket, offer)
    const handoffs = deps.handoffs()
    for (const account of ticket.accounts) handoffs.give(ticket, account, offer.room)
    offer.waiting += ticket.handoffs.size
    // Who has no connection any more leaves the seat free.
    offer.seats += ticket.size - ticket.handoffs.size
  }

  function fillOne(offer: Offer, waiting: readonly Ticket[]): number {
    let taken = 0
    for (const ticket of waiting) {
      if (offer.seats === 0) break
      if (ticket.state !== 'queued' || !takes(offer, ticket)) continue
      take(offer, ticket)
      taken += 1
    }
    return taken
  }

  return {
    add({ roomId, seats, query, properties, ttlMs }) {
      const room = rooms.byId(roomId)
      if (room === undefined) return { refusal: 'not_found' }
      if (byRoom.has(room) || !hasPlaces(room, seats)) return { refusal: 'conflict' }
      const expiresMs = clock.monotonicMs() + ttlMs
      const offer = { id: deps.newId(), room, seats, query, properties, expiresMs, waiting: 0 }
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
    fill(waiting) {
      let taken = 0
      for (const { id } of [...offers.values()]) {
        const offer = live(id)
        if (offer !== undefined) taken += fillOne(offer, waiting)
      }
      return taken
    },
    tokenOver({ ticket, state }) {
      const offer = takenBy.get(ticket)
      if (offer === undefined) return
      const isLast = [...ticket.handoffs.values()].every((handoff) => handoff.state !== 'valid')
      if (isLast) takenBy.delete(ticket)
      offer.waiting -= 1
      if (state === 'expired') offer.seats += 1
      if (offer.seats === 0 && offer.waiting === 0) end(offer)
    },
    expire(nowMs) {
      for (const offer of [...offers.values()]) {
        if (offer.expiresMs <= nowMs || offer.room.phase === 'ended') end(offer)
      }
    },
    get size() {
      return offers.size
    },
  }
}
