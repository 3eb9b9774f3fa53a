import { type JsonObject, parseExact, stringifyExact } from '@guildhall/contract'
import type { TicketProperties } from '../../../../kernel/play/room-hooks.ts'
import { keptQuery } from '../../query/kept-query.ts'
import type { Query } from '../../query/query.ts'
import { isObject } from '../../rooms/requests/label-answers.ts'
import type { Room } from '../../rooms/room.ts'
import { propertyOf, readProperties, readQuery } from '../tickets/criteria.ts'
import type { TicketRecord } from '../tickets/ticket-record.ts'
import type { FormedMatch, MatchOrder } from './match-order.ts'

/** A running room that takes players in. */
export type Offer = {
  id: string
  room: OfferedRoom
  /** The node that has the room, where it is another one. */
  boot: string | undefined
  /** What a script has asked for, for other nodes. */
  asked: string
  seats: number
  query: Query
  /** One of its properties, for the queries of tickets. */
  get(field: string): unknown
  createdMs: number
  expiresMs: number
  /** Tokens that are given and not used. */
  waiting: number
  /** How often its node was sent tickets and has not answered. */
  unanswered: number
}

/** The room of an offer, here or on another node. */
export type OfferedRoom = {
  readonly id: number
  /** Places that members and tokens have, and as many as there may be. */
  places: number
  readonly placesMax: number
  readonly isOver: boolean
}

/** An offer as it passes from node to node. Times are ages: clocks of nodes differ. */
export type OfferRecord = {
  id: string
  room_id: number
  asked: string
  seats: number
  places: number
  places_max: number
  age_ms: number
  ttl_ms: number
}

/** Tickets for an offer of another node. */
export type OfferOrder = Pick<MatchOrder, 'members'> & { offer_id: string; tickets: TicketRecord[] }

/** What nodes say to each other about offers: all of a node, or what has changed. */
export type OffersSaid = {
  isAll: boolean
  records: readonly OfferRecord[]
  over: readonly string[]
}

/** Offers as other nodes have part in them. */
export type SharedOffers = {
  /** Those of this node's rooms, for the node that has the tickets. */
  records(): OfferRecord[]
  /** Another node says what its rooms offer. */
  offered(boot: string, said: OffersSaid): void
  /** Forgets the offers of other nodes' rooms. */
  forget(isMeant: (boot: string) => boolean): void
  /** Takes tickets of another node into an offer of this one, as far as they have a place. */
  fillOrder(order: OfferOrder): FormedMatch | undefined
}

export function askedOf(query: string, properties: TicketProperties): string {
  return stringifyExact({ query, properties } as JsonObject)
}

/** What an offer asks of tickets, and shows them; undefined for what no script can have asked. */
export function readAsked(asked: string): Pick<Offer, 'query' | 'get'> | undefined {
  const said = parsed(asked)
  if (!isObject(said)) return undefined
  const [query, properties] = [readQuery(said.query), readProperties(said.properties)]
  if ('problem' in query || properties === undefined) return undefined
  return { query: keptQuery(query), get: (field) => propertyOf(properties, field) }
}

/** A room of this node. */
export function offeredRoom(room: Room, membersMax: number): OfferedRoom {
  return {
    id: room.id,
    get places() {
      return room.members.length + room.heldPlaces
    },
    set places(places) {
      room.heldPlaces = places - room.members.length
    },
    get placesMax() {
      const { max_players } = room.label
      return max_players === 0 ? membersMax : Math.min(membersMax, max_players)
    },
    get isOver() {
      return room.phase === 'ended'
    },
  }
}

export function hasPlaces({ places, placesMax }: OfferedRoom, seats: number): boolean {
  return places + seats <= placesMax
}

export function recordOfOffer(offer: Offer, nowMs: number): OfferRecord {
  const { id, room, asked, seats, createdMs, expiresMs } = offer
  return {
    ...{ id, asked, seats, room_id: room.id, places: room.places, places_max: room.placesMax },
    age_ms: Math.max(0, Math.round(nowMs - createdMs)),
    ttl_ms: Math.max(0, Math.round(expiresMs - nowMs)),
  }
}

/** An offer of another node; undefined for one that no script can have made. */
export function offerFrom(record: OfferRecord, boot: string, nowMs: number): Offer | undefined {
  const { id, asked, seats } = record
  const read = readAsked(asked)
  if (read === undefined) return undefined
  return {
    ...{ id, boot, asked, seats, ...read, waiting: 0, unanswered: 0 },
    room: {
      ...{ id: record.room_id, isOver: false },
      ...{ places: record.places, placesMax: record.places_max },
    },
    createdMs: nowMs - record.age_ms,
    expiresMs: nowMs + record.ttl_ms,
  }
}

function parsed(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}
