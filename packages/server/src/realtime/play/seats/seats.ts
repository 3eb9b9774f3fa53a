import type { Departure, SeatTimes } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { Awaitable } from '../../../kernel/time/awaitable.ts'
import { createDeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import type { TransportLimits } from '../../config.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { QueueHolder, QueueTotals } from '../../frames/queue-totals.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Claimed, SeatFate } from '../../play.port.ts'
import type { GameScript, Player } from '../../ports.ts'
import type { Disconnected } from '../gatherings.ts'
import { disconnect, type Participant, placeOf } from '../participants/participant.ts'
import type { Registry } from '../participants/registry.ts'
import { sendNotice } from '../rooms/presence.ts'
import type { PresenceCosts } from '../rooms/presence-costs.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Snapshots } from '../rooms/snapshots.ts'
import type { StateFollowing } from '../rooms/states/following.ts'
import { Seat } from './seat.ts'

/**
 * The reconnect grace: who drops out of a room keeps participant id, room and topics for a while.
 */
export type Seats = {
  /**
   * Whether the participant of a lost connection keeps its seat; its drop and its return are paid
   * for by its account then.
   */
  mayKeep(participant: Participant): boolean
  /** Keeps the seat, or hands it over: then it is claimed before the turn ends. */
  drop(participant: Participant, fate: SeatFate, unsent: readonly OutgoingFrame[]): void
  /** The connection of a dropped participant may come back by a new link, while `isAwaited`. */
  awaitReturn(participant: number, isAwaited: () => boolean): void
  /** The dropped participant that a new connection of the account takes over. */
  claim(account: Player): Awaitable<Claimed> | undefined
  /** The same, if its session is that of the connection. */
  claimSame(account: Player): Awaitable<Claimed> | undefined
  /** The same for a certain participant. */
  claimOf(participant: number, account: Player): Awaitable<Claimed> | undefined
  /** The connection that claimed the seat was lost before it arrived. */
  release(participant: Participant): void
  /** What was under way to a dropped participant is still to come back; resolves when it has. */
  awaitUnsent(participant: number): void
  /** What was under way to a dropped participant; nothing more of it comes. */
  addUnsent(participant: number, unsent: readonly OutgoingFrame[]): void
  /** Whether the seat of a participant is claimed, and it was not welcomed yet. */
  isReturning(participant: Participant): boolean
  /** Sends a returned client where it is and what was kept for it, and calls the script. */
  welcome(participant: Participant, settled: () => void): void
  /** Ends the seat of a dropped participant. */
  end(participant: number, departure: Departure): void
  endSessions(sessionIds: Iterable<string>): void
  sessionIds(): string[]
  /** Ends the seats of sessions whose life is over. */
  sweep(nowUnixMs: number): void
  endAll(): void
  /** The seat that holds most bytes. */
  largest(): QueueHolder | undefined
}

export type SeatsDeps = {
  clock: Clock
  metrics: GatewayMetrics
  limits: TransportLimits
  totals: QueueTotals
  graceMs: number
  /** Too much is queued over all connections and seats. */
  relieve(): void
  script: GameScript
  registry: Registry
  rooms: Rooms
  costs: PresenceCosts
  snapshots: Snapshots
  states: Pick<StateFollowing, 'entered' | 'left'>
  disconnected: Disconnected
  /** Runs the end of a participant. */
  finish(participant: Participant, departure: Departure): void
}

export function createSeats(deps: SeatsDeps): Seats {
  const {
    clock,
    metrics,
    limits,
    totals,
    graceMs,
    script,
    registry,
    rooms,
    snapshots,
    disconnected,
  } = deps
  /** By participant, in the order in which they dropped. */
  const seats = new Map<number, Seat>()
  const byUser = new Map<string, Set<Seat>>()
  const returning = new Map<Participant, Seat>()
  const deadlines = createDeadlineQueue<Seat>({ clock, delayMs: graceMs }, endLost)
  const seatDeps = { limits, totals, relieve: deps.relieve, overflowed: endLost }

  function endLost({ participant }: Seat): void {
    end(participant.context.participant, 'disconnected')
  }

  function put(seat: Seat): void {
    const { participant, user_id } = seat.participant.context
    seats.set(participant, seat)
    byUser.set(user_id ?? '', (byUser.get(user_id ?? '') ?? new Set()).add(seat))
    deadlines.add(seat)
    metrics.dropped_seats_active = seats.size
  }

  function take(seat: Seat): void {
    const { participant, user_id } = seat.participant.context
    seats.delete(participant)
    deadlines.remove(seat)
    const others = byUser.get(user_id ?? '')
    others?.delete(seat)
    if (others?.size === 0) byUser.delete(user_id ?? '')
    metrics.dropped_seats_active = seats.size
  }

  function end(id: number, departure: Departure): void {
    const seat = seats.get(id)
    if (seat === undefined) return
    take(seat)
    seat.clear()
    metrics.seats_expired_total += 1
    deps.finish(seat.participant, departure)
  }

  function endWhere(isMeant: (participant: Participant) => boolean): void {
    for (const [id, { participant }] of [...seats]) {
      if (isMeant(participant)) end(id, 'disconnected')
    }
  }

  function endBeyondMax(): void {
    for (const first of seats.keys()) {
      if (seats.size <= limits.max_connections) return
      end(first, 'disconnected')
    }
  }

  function seatOf({ session_id, user_id }: Player): Seat | undefined {
    const candidates = [...(byUser.get(user_id) ?? [])]
    return candidates.findLast(({ participant }) => participant.session_id === session_id)
  }

  /** Somebody has the seat from here on, and is expected to arrive. */
  function handOver(seat: Seat, account: Player): Awaitable<Claimed> {
    const { participant, unsent } = seat
    take(seat)
    returning.set(participant, seat)
    participant.session_id = account.session_id
    participant.session_ends_at_unix_ms = account.refresh_expires_at_unix_ms
    const claimed = { participant: participant.context.participant, place: placeOf(participant) }
    return unsent === undefined ? claimed : unsent.then(() => claimed)
  }

  function timesOf(seat: Seat): SeatTimes {
    const away_ms = Math.round(clock.monotonicMs() - seat.droppedAtMs)
    return { grace_ms: Math.max(0, graceMs - away_ms), away_ms }
  }

  return {
    mayKeep({ room, context: { user_id } }) {
      if (graceMs === 0 || room === undefined || user_id === null) return false
      return deps.costs.pay(user_id, room.members.length)
    },
    drop(participant, fate, unsent) {
      const { context, room } = participant
      const seat = new Seat(participant, clock.monotonicMs(), seatDeps)
      seat.inherit(unsent)
      registry.disconnect(participant)
      disconnect(participant, seat)
      deps.states.left(participant, room)
      if (room?.state !== undefined) script.stateWatch(context, false)
      put(seat)
      script.drop(context, timesOf(seat))
      if (!participant.relayed) {
        disconnected.cancelTicket(participant)
        disconnected.updateParty(participant)
      }
      if (room) sendNotice(room, participant, { event: 'dropped', reason: 'dropped' })
      // What is handed over takes no place from the others.
      if (fate === 'kept') endBeyondMax()
    },
    claim(account) {
      const others = [...(byUser.get(account.user_id) ?? [])]
      const seat = seatOf(account) ?? others.findLast((other) => !other.isAwaited())
      return seat && handOver(seat, account)
    },
    claimSame(account) {
      const seat = seatOf(account)
      return seat && handOver(seat, account)
    },
    claimOf(id, account) {
      const seat = seats.get(id)
      if (seat === undefined || seat.participant.context.user_id !== account.user_id)
        return undefined
      return handOver(seat, account)
    },
    release(participant) {
      const seat = returning.get(participant)
      if (seat !== undefined && returning.delete(participant)) put(seat)
    },
    awaitUnsent: (id) => seats.get(id)?.awaitUnsent(),
    awaitReturn(id, isAwaited) {
      const seat = seats.get(id)
      if (seat !== undefined) seat.isAwaited = isAwaited
    },
    addUnsent(id, unsent) {
      const participant = registry.byId(id)
      const seat = seats.get(id) ?? (participant && returning.get(participant))
      seat?.inherit(unsent)
    },
    isReturning: (participant) => returning.has(participant),
    welcome(participant, settled) {
      const seat = returning.get(participant)
      const { room, receiver } = participant
      returning.delete(participant)
      if (seat === undefined) return settled()
      if (room === undefined) {
        seat.clear()
        return settled()
      }
      metrics.seats_returned_total += 1
      const times = timesOf(seat)
      rooms.sendJoined(participant, room)
      snapshots.send(room, participant)
      deps.states.entered(participant)
      for (const frame of seat.clear()) receiver.deliver(frame, false)
      // A client that cannot take all this has ended by now, and nobody saw it return.
      if (participant.receiver !== receiver) return settled()
      sendNotice(room, participant, { event: 'returned', reason: null })
      script.returned(participant.context, times, settled)
    },
    end,
    endSessions(sessionIds) {
      const ended = new Set(sessionIds)
      endWhere(({ session_id }) => ended.has(session_id ?? ''))
    },
    sessionIds: () =>
      [...seats.values()].flatMap(({ participant }) => participant.session_id ?? []),
    sweep: (nowUnixMs) =>
      endWhere(({ session_ends_at_unix_ms }) => session_ends_at_unix_ms <= nowUnixMs),
    endAll: () => endWhere(() => true),
    largest() {
      let largest: Seat | undefined
      for (const seat of seats.values()) if (seat.bytes > (largest?.bytes ?? 0)) largest = seat
      if (largest === undefined) return undefined
      const { participant, bytes } = largest
      return { bytes, end: () => end(participant.context.participant, 'disconnected') }
    },
  }
}
