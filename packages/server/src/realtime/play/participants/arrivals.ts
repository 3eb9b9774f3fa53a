import type { Departure } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { Awaitable } from '../../../kernel/time/awaitable.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import type { PlayPort, SeatFate } from '../../play.port.ts'
import type { GameScript } from '../../ports.ts'
import type { Elsewhere } from '../elsewhere.port.ts'
import type { Disconnected } from '../gatherings.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Seats } from '../seats/seats.ts'
import type { Topics } from '../topics/topics.ts'
import { connect, disconnect, newParticipant, noReceiver, type Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** What happens when a connection becomes a participant, and when it stops being one. */
export type Arrivals = Pick<PlayPort, 'claim' | 'arrive' | 'leave'>

type ArrivalsDeps = {
  clock: Clock
  registry: Registry
  script: GameScript
  seats: Seats
  elsewhere: Pick<Elsewhere, 'claim' | 'connecting' | 'arrive' | 'release'>
  /** How long a seat is kept; 0 keeps none. */
  graceMs: number
  disconnected: Disconnected
  topics: Pick<Topics, 'leaveAll'>
  finish(participant: Participant, departure: Departure): void
  /** An account has its first connection. */
  cameOnline(userId: string): void
}

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const { clock, registry, script, seats, elsewhere, finish } = deps
  /** Calls the script, which may be done at once. */
  function begin(participant: Participant): Awaitable<void> {
    let isSettled = false
    let resolve: (() => void) | undefined
    const settled = () => {
      isSettled = true
      resolve?.()
    }
    if (seats.isReturning(participant)) seats.welcome(participant, settled)
    else if (participant.relayed) return undefined
    else script.join(participant.context, settled)
    if (isSettled) return undefined
    return new Promise<void>((settle) => {
      resolve = settle
    })
  }

  /** The seat of a participant that is away lives with its room; here nothing is left of it. */
  function leaveFromAway(
    participant: Participant,
    seat: SeatFate,
    unsent: readonly OutgoingFrame[],
  ): void {
    const { away } = participant
    const isKept = seat !== 'none' && deps.graceMs > 0 && participant.context.user_id !== null
    away?.depart(isKept ? seat : 'none', unsent)
    participant.away = undefined
    registry.disconnect(participant)
    if (!isKept) {
      finish(participant, 'disconnected')
      return
    }
    disconnect(participant, noReceiver)
    deps.disconnected.cancelTicket(participant)
    deps.topics.leaveAll(participant)
    deps.disconnected.updateParty(participant)
    registry.remove(participant)
  }

  return {
    claim(account, asked) {
      const connecting = elsewhere.connecting(account.session_id)
      const seat =
        asked ?? seats.claimSame(account) ?? elsewhere.claim(account, () => seats.claim(account))
      if (connecting === undefined) return seat
      return Promise.all([seat, connecting]).then(([claimed]) => claimed)
    },
    arrive({ participant: id, account, flags, relayed = false }, receiver) {
      const participant = registry.byId(id) ?? newParticipant(id, account)
      const sinceMs = Math.floor(clock.monotonicMs())
      connect(participant, { receiver, flags, sinceMs, relayed })
      const isFirst = account !== undefined && !relayed && !registry.isConnected(account.user_id)
      registry.add(participant)
      if (isFirst) deps.cameOnline(account.user_id)
      // What it was sent about its party may have ended a connection that does not read.
      if (participant.receiver !== receiver) return undefined
      return elsewhere.arrive(participant) ?? begin(participant)
    },
    leave(id, seat, unsent) {
      const participant = registry.byId(id)
      if (participant === undefined) return elsewhere.release(id)
      if (!participant.isConnected) return seats.release(participant)
      if (participant.away !== undefined) return leaveFromAway(participant, seat, unsent)
      const isKept = seat === 'kept' || seat === 'handed_over'
      if (isKept && seats.mayKeep(participant)) {
        return seats.drop(participant, seat, unsent)
      }
      registry.disconnect(participant)
      finish(participant, 'disconnected')
    },
  }
}

type EndingDeps = {
  registry: Registry
  script: GameScript
  rooms: Rooms
  topics: Topics
  disconnected: Disconnected
}

/** The end of a participant, whatever the cause, in this order. Its connection is taken off. */
export function createEnding(deps: EndingDeps) {
  const { registry, script, rooms, topics, disconnected } = deps
  return (participant: Participant, departure: Departure): void => {
    disconnect(participant, noReceiver)
    script.leave(participant.context)
    if (!participant.relayed) disconnected.cancelTicket(participant)
    rooms.leave(participant, departure)
    topics.leaveAll(participant)
    if (!participant.relayed) disconnected.updateParty(participant)
    registry.remove(participant)
  }
}
