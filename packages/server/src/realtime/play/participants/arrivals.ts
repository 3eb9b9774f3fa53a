import type { Departure } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import type { Awaitable } from '../../../kernel/time/awaitable.ts'
import type { PlayPort } from '../../play.port.ts'
import type { GameScript } from '../../ports.ts'
import type { Disconnected } from '../gatherings.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Seats } from '../seats/seats.ts'
import type { Topics } from '../topics/topics.ts'
import {
  connect,
  disconnect,
  newParticipant,
  nobody,
  type Participant,
  placeOf,
} from './participant.ts'
import type { Registry } from './registry.ts'

/** What happens when a connection becomes a participant, and when it stops being one. */
export type Arrivals = Pick<PlayPort, 'claim' | 'arrive' | 'leave'>

type ArrivalsDeps = {
  clock: Clock
  registry: Registry
  script: GameScript
  seats: Seats
  finish(participant: Participant, departure: Departure): void
  /** An account has its first connection. */
  cameOnline(userId: string): void
}

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const { clock, registry, script, seats, finish } = deps
  /** Calls the script, which may be done at once. */
  function begin(participant: Participant): Awaitable<void> {
    let isSettled = false
    let resolve: (() => void) | undefined
    const settled = () => {
      isSettled = true
      resolve?.()
    }
    if (seats.isReturning(participant)) seats.welcome(participant, settled)
    else script.join(participant.context, settled)
    if (isSettled) return undefined
    return new Promise<void>((settle) => {
      resolve = settle
    })
  }

  return {
    claim(account) {
      const participant = seats.claim(account)
      if (participant === undefined) return undefined
      return { participant: participant.context.participant, place: placeOf(participant) }
    },
    arrive({ participant: id, account, flags }, receiver) {
      const participant = registry.byId(id) ?? newParticipant(id, account)
      const sinceMs = Math.floor(clock.monotonicMs())
      connect(participant, { receiver, flags, sinceMs })
      const isFirst = account !== undefined && !registry.isConnected(account.user_id)
      registry.add(participant)
      if (isFirst) deps.cameOnline(account.user_id)
      // What it was sent about its party may have ended a connection that does not read.
      return participant.receiver === receiver ? begin(participant) : undefined
    },
    leave(id, seat, unsent) {
      const participant = registry.byId(id)
      if (participant === undefined) return
      if (!participant.isConnected) return seats.release(participant)
      if (seat !== 'none' && seats.mayKeep(participant)) {
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
    disconnect(participant, nobody)
    script.leave(participant.context)
    disconnected.cancelTicket(participant)
    rooms.leave(participant, departure)
    topics.leaveAll(participant)
    disconnected.updateParty(participant)
    registry.remove(participant)
  }
}
