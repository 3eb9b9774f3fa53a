import type { MatchmakerTotals, TicketStatus } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { RoomHooks } from '../../../kernel/play/room-hooks.ts'
import type { AccountKey, Accounts } from '../accounts.port.ts'
import type { Coordination } from '../coordination.port.ts'
import { keptQuery } from '../query/kept-query.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { MatchmakerConfig } from './config.ts'
import { createForming } from './offers/forming.ts'
import { createHandoffs, type Handoffs } from './offers/handoffs.ts'
import { askedOf, type SharedOffers } from './offers/offer.ts'
import { createOffers, type Offers } from './offers/offers.ts'
import { createPasses } from './pass/pass.ts'
import { createAdding } from './tickets/adding.ts'
import { invalidQuery, readProperties, readQuery } from './tickets/criteria.ts'
import { createExpiry } from './tickets/expiry.ts'
import { createRemovalPush, type RemovalReason } from './tickets/removal-push.ts'
import { type Handoff, isGood, type Ticket } from './tickets/ticket.ts'
import type { TicketQueue } from './tickets/ticket-queue.ts'
import { recordOfTicket, type TicketRecord, ticketFrom } from './tickets/ticket-record.ts'

export type MatchmakerDeps = {
  config: MatchmakerConfig
  limits: { max_rooms: number; max_members: number }
  clock: Clock
  log: Log
  hooks: RoomHooks
  rooms: Rooms
  accounts: Accounts
  queue: TicketQueue
  coordination: Coordination
  mayMakeRooms(): boolean
  /** 24 base64url characters. */
  newId(): string
  randomness(size: number): Buffer
  /** A ticket has been matched after so long. */
  observeWait?: ((waitedMs: number) => void) | undefined
  /** The members of a party that its leader queues, or why not. */
  partyOf(partyId: unknown, leader: AccountKey): { accounts: AccountKey[] } | { refusal: string }
}

/** What a script says about an offer; the values are checked here. */
type SaidOffer = {
  query?: string | null | undefined
  properties?: unknown
  ttlMs?: number | null | undefined
}

export type Matchmaker = ReturnType<typeof createMatchmaker>

const noTotals = {
  matches_formed_total: 0,
  tickets_formed_total: 0,
  tickets_cancelled_total: 0,
  tickets_expired_total: 0,
}

/** Tickets, matches and the offers of running rooms. */
export function createMatchmaker(deps: MatchmakerDeps) {
  const { config, limits, clock, hooks, rooms, queue } = deps
  const log = deps.log.component('matchmaker')
  const totals = { ...noTotals }
  const offers = createOffers({
    ...{ ...deps, ttl: config, membersMax: limits.max_members, taken: countMatched },
    handoffs: () => handoffs,
    order: (...order) => forming.intoOffer(...order),
    changed: deps.coordination.offersChanged,
  })
  const handoffs: Handoffs = createHandoffs({
    ...deps,
    ttlMs: config.handoff_ttl_ms,
    expired: offers.tokenOver,
  })
  const pushRemoval = createRemovalPush(deps.accounts)
  const counting = { countFormed, dropped, taken: countMatched }
  const forming = createForming({ ...deps, log, handoffs, ...counting })
  const expiry = createExpiry({ clock, log, queue, expired })
  const passes = createPasses({
    ...{ clock, log, queue, form: forming.here },
    intervalMs: config.interval_ms,
    widenAfterMs: config.widen_after_ms,
    membersMax: limits.max_members,
    expire: expiry.takeOut,
    gateOpen: hooks.gateOpen,
    fillOffers: offers.fill,
  })
  function countFormed(group: readonly Ticket[]): void {
    totals.matches_formed_total += 1
    for (const ticket of group) countMatched(ticket)
  }

  /** Without a reason the owner has cancelled it. */
  function dropped(ticket: Ticket, reason?: RemovalReason): boolean {
    totals.tickets_cancelled_total += 1
    if (reason !== undefined) pushRemoval(ticket, reason)
    return true
  }

  function expired(ticket: Ticket): void {
    totals.tickets_expired_total += 1
    pushRemoval(ticket, 'expired')
  }

  function countMatched(ticket: Ticket): void {
    totals.tickets_formed_total += 1
    ticket.isHandedOver = true
    deps.coordination.ticketChanged(ticket)
    deps.observeWait?.((ticket.finishedMs ?? clock.monotonicMs()) - ticket.createdMs)
  }

  function remove(ticket: Ticket | undefined, reason?: RemovalReason): boolean {
    if (ticket?.state !== 'queued') return false
    queue.finish(ticket, 'removed')
    return dropped(ticket, reason)
  }

  function isFull(): boolean {
    return queue.size + offers.size >= config.max_tickets
  }

  function status(account: AccountKey, id: string): TicketStatus | undefined {
    const ticket = queue.find(id, account)
    if (ticket === undefined) return undefined
    const handoff = ticket.handoffOf(account)
    const untilMs = ticket.finishedMs ?? clock.monotonicMs()
    return {
      ticket_id: id,
      state: ticket.state,
      waited_ms: Math.round(untilMs - ticket.createdMs),
      candidates_seen: ticket.seen,
      last_reason: ticket.state === 'queued' ? reasonOf(ticket) : null,
      ...(handoff !== undefined && isGood(handoff) ? { match: matchOf(handoff) } : {}),
    }
  }

  function reasonOf(ticket: Ticket): string {
    return hooks.gateOpen() ? ticket.reason : 'gate_closed'
  }

  /** The room that a token of the account leads to; of several who accept it the first wins. */
  function accept(account: AccountKey, id: string, token: string): number | undefined {
    const handoff = queue.find(id, account)?.handoffOf(account)
    if (handoff?.token !== token || !isGood(handoff)) return undefined
    handoff.state = 'accepted'
    deps.coordination.ticketChanged(handoff.ticket)
    return handoff.room.id
  }

  /** Puts the holder of a token into its room here, which holds a place until then. */
  function enter(participant: number, token: string): boolean {
    const handoff = handoffs.use(token)
    if (handoff === undefined) return false
    const { room, ticket } = handoff
    const isIn = rooms.admit(participant, room.id, ticket.criteria.properties)
    handoffs.release(handoff)
    offers.tokenOver(handoff)
    return isIn
  }

  /** Takes a ticket over from another node; false when an account of it has one already. */
  function restore(record: TicketRecord): boolean {
    const nowMs = clock.monotonicMs()
    const ticket = ticketFrom(record, { ttl: config, nowMs })
    const isTwice = ticket?.accounts.some((account) => queue.ofAccount(account) !== undefined)
    if (ticket === undefined || isTwice) return false
    queue.add(ticket)
    if (record.state === 'queued') return true
    queue.finish(ticket, 'matched')
    ticket.isHandedOver = true
    for (const { expires_at, ...made } of record.tokens) {
      handoffs.keep(ticket, { ...made, ttl_ms: expires_at - clock.nowUnixMs() })
    }
    return true
  }

  return {
    add: createAdding({ ...deps, isFull, added: passes.ticketAdded }),
    status,
    cancel(account: AccountKey, id: string): boolean {
      const ticket = queue.find(id, account)
      return ticket?.accounts[0] === account && remove(ticket)
    },
    ...{ accept, enter, restore, form: forming.ordered },
    records(): TicketRecord[] {
      const nowMs = clock.monotonicMs()
      return Array.from(queue.all(), (ticket) => recordOfTicket(ticket, nowMs))
    },
    /** The last connection of an account has ended. */
    accountGone(account: AccountKey): void {
      remove(queue.ofAccount(account), 'offline')
    },
    partyChanged(partyId: string): void {
      remove(queue.ofParty(partyId), 'party')
    },
    backfill: createBackfill({ config, hooks, offers, isFull }),
    /** What other nodes have part in. */
    offers: offers as SharedOffers,
    counts: (): MatchmakerTotals => ({
      queued_tickets: queue.size,
      ...passes.counts(),
      ...totals,
    }),
    stop() {
      passes.stop()
      expiry.stop()
      offers.stop()
    },
  }
}

function matchOf({ room, token, expiresAtUnixMs }: Handoff) {
  return { match_id: room.id, join_token: token, expires_at: expiresAtUnixMs }
}

type BackfillDeps = Pick<MatchmakerDeps, 'config' | 'hooks'> & {
  offers: Pick<Offers, 'add' | 'cancel' | 'status'>
  isFull(): boolean
}

/** Offers of rooms, as a script asks for them. */
function createBackfill({ config, hooks, offers, isFull }: BackfillDeps) {
  return {
    add(roomId: number, seats: number, said: SaidOffer) {
      const query = readQuery(said.query ?? '')
      const properties = readProperties(said.properties ?? {})
      const ttlMs = said.ttlMs ?? config.default_ttl_ms
      if ('problem' in query)
        return { refusal: 'invalid_argument', problem: invalidQuery(query) } as const
      if (properties === undefined || ttlMs > config.max_ttl_ms) {
        return { refusal: 'invalid_argument' } as const
      }
      if (!hooks.admit() || isFull()) return { refusal: 'unavailable' } as const
      const asked = askedOf(said.query ?? '', properties)
      return offers.add({ roomId, seats, asked, query: keptQuery(query), properties, ttlMs })
    },
    cancel: offers.cancel,
    status: offers.status,
  }
}
