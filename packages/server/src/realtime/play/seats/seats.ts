import type { Departure, SeatTimes } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import { createDeadlineQueue } from '../../../kernel/time/deadline-queue.ts'
import type { TransportLimits } from '../../config.ts'
import type { SeatFate } from '../../connection/closing/closings.ts'
import type { LiveSession } from '../../connection/live/live-session.ts'
import type { QueueLedger } from '../../connection/send-queue/send-queue.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { GameScript, Player } from '../../ports.ts'
import type { Disconnected } from '../participants/gatherings.ts'
import type { Participant } from '../participants/participant.ts'
import type { Registry } from '../participants/registry.ts'
import { sendNotice, sendSnapshot } from '../rooms/presence.ts'
import type { Rooms } from '../rooms/rooms.ts'
import { Seat } from './seat.ts'

/**
 * The reconnect grace: who drops out of a room keeps participant id, room and topics for a while.
 */
export type Seats = {
  /** Whether the participant of a lost connection keeps its seat. */
  mayKeep(participant: Participant): boolean
  /** Keeps the seat, or hands it over: then it is claimed before the turn ends. */
  drop(live: LiveSession, fate: SeatFate): void
  /** The dropped participant that a new connection of the player takes over. */
  claim(player: Player, live: LiveSession): Participant | undefined
  /** Whether the connection has claimed a seat and was not welcomed yet. */
  isReturning(live: LiveSession): boolean
  /** Sends a returned client where it is and what was kept for it, and calls the script. */
  welcome(live: LiveSession, settled: () => void): void
  /** Ends the seat of a dropped participant. */
  end(participant: Participant, departure: Departure): void
  endSessions(sessionIds: Iterable<string>): void
  sessionIds(): string[]
  /** Ends the seats of sessions whose life is over. */
  sweep(nowUnixMs: number): void
  endAll(): void
  /** The seat that holds most bytes. */
  largest(): Seat | undefined
}

export type SeatsDeps = {
  clock: Clock
  metrics: GatewayMetrics
  limits: TransportLimits
  ledger: QueueLedger
  graceMs: number
  /** Too much is queued over all connections and seats. */
  relieve(): void
  script: GameScript
  registry: Registry
  rooms: Rooms
  disconnected: Disconnected
  /** Runs the end of a participant. */
  finish(participant: Participant, departure: Departure): void
}

export function createSeats(deps: SeatsDeps): Seats {
  const { clock, metrics, limits, ledger, graceMs, script, registry, rooms, disconnected } = deps
  /** In the order in which they dropped. */
  const seats = new Map<Participant, Seat>()
  const byUser = new Map<string, Set<Seat>>()
  const returning = new Map<LiveSession, Seat>()
  const deadlines = createDeadlineQueue<Seat>({ clock, delayMs: graceMs }, (seat) =>
    end(seat.participant, 'disconnected'),
  )
  const seatDeps = {
    limits,
    ledger,
    relieve: deps.relieve,
    overflowed: (seat: Seat) => end(seat.participant, 'disconnected'),
  }

  function take(seat: Seat): void {
    seats.delete(seat.participant)
    deadlines.remove(seat)
    const userId = seat.participant.context.user_id ?? ''
    const others = byUser.get(userId)
    others?.delete(seat)
    if (others?.size === 0) byUser.delete(userId)
    metrics.dropped_seats_active = seats.size
  }

  function end(participant: Participant, departure: Departure): void {
    const seat = seats.get(participant)
    if (seat === undefined) return
    take(seat)
    seat.clear()
    metrics.seats_expired_total += 1
    deps.finish(participant, departure)
  }

  function endSessions(sessionIds: Iterable<string>): void {
    const ended = new Set(sessionIds)
    for (const participant of [...seats.keys()]) {
      if (ended.has(participant.session_id ?? '')) end(participant, 'disconnected')
    }
  }

  function endBeyondMax(): void {
    for (const first of seats.keys()) {
      if (seats.size <= limits.max_connections) return
      end(first, 'disconnected')
    }
  }

  function timesOf(seat: Seat): SeatTimes {
    const away_ms = Math.round(clock.monotonicMs() - seat.droppedAtMs)
    return { grace_ms: Math.max(0, graceMs - away_ms), away_ms }
  }

  return {
    mayKeep: ({ room, context }) => graceMs > 0 && room !== undefined && context.user_id !== null,
    drop(live, fate) {
      const { participant } = live
      const { context, room } = participant
      const seat = new Seat(participant, clock.monotonicMs(), seatDeps)
      seat.inherit(live.takeUnsent())
      registry.disconnect(live)
      participant.live = undefined
      participant.receiver = seat
      seats.set(participant, seat)
      const userId = context.user_id ?? ''
      byUser.set(userId, (byUser.get(userId) ?? new Set()).add(seat))
      deadlines.add(seat)
      metrics.dropped_seats_active = seats.size
      script.drop(context, timesOf(seat))
      disconnected.cancelTicket(participant)
      disconnected.updateParty(participant)
      if (room) sendNotice(room, participant, { event: 'dropped', reason: 'dropped' })
      // What is handed over takes no place from the others.
      if (fate === 'kept') endBeyondMax()
    },
    claim({ session_id, user_id, refresh_expires_at_unix_ms }, live) {
      const candidates = [...(byUser.get(user_id) ?? [])]
      const isSameSession = (seat: Seat) => seat.participant.session_id === session_id
      const seat = candidates.findLast(isSameSession) ?? candidates.at(-1)
      if (seat === undefined) return undefined
      take(seat)
      returning.set(live, seat)
      const { participant } = seat
      participant.session_id = session_id
      participant.session_ends_at_unix_ms = refresh_expires_at_unix_ms
      return participant
    },
    isReturning: (live) => returning.has(live),
    welcome(live, settled) {
      const seat = returning.get(live)
      const { participant } = live
      const { room } = participant
      returning.delete(live)
      if (seat === undefined) return settled()
      if (room === undefined) {
        seat.clear()
        return settled()
      }
      metrics.seats_returned_total += 1
      const times = timesOf(seat)
      rooms.sendJoined(live, room)
      sendSnapshot(room, live)
      for (const frame of seat.clear()) live.deliver(frame, false)
      // A client that cannot take all this has ended by now, and nobody saw it return.
      if (participant.live !== live) return settled()
      sendNotice(room, participant, { event: 'returned', reason: null })
      script.returned(participant.context, times, settled)
    },
    end,
    endSessions,
    sessionIds: () => [...seats.keys()].flatMap(({ session_id }) => session_id ?? []),
    sweep(nowUnixMs) {
      for (const participant of [...seats.keys()]) {
        if (participant.session_ends_at_unix_ms <= nowUnixMs) end(participant, 'disconnected')
      }
    },
    endAll() {
      for (const participant of [...seats.keys()]) end(participant, 'disconnected')
    },
    largest() {
      let largest: Seat | undefined
      for (const seat of seats.values()) if (seat.bytes > (largest?.bytes ?? 0)) largest = seat
      return largest
    },
  }
}
