import type { Departure } from '@guildhall/contract'
import { closings, type SeatFate } from '../../connection/closing/closings.ts'
import type { ServerTime } from '../../connection/dispatch/server-time.ts'
import type { LiveSession } from '../../connection/live/live-session.ts'
import type { GameScript, Player } from '../../ports.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Seats } from '../seats/seats.ts'
import type { Topics } from '../topics/topics.ts'
import type { Disconnected } from './gatherings.ts'
import { newParticipant, nobody, type Participant } from './participant.ts'
import type { Registry } from './registry.ts'
import type { Revocation } from './revocation.ts'

/** What happens when a connection becomes a participant, and when it stops being one. */
export type Arrivals = {
  /** Ends an older connection of the session; before the new one has its AUTH_RESULT. */
  replace(player: Player): void
  /** The participant that the connection plays as: a new one, or a dropped one it takes over. */
  place(live: LiveSession, player: Player | undefined): Participant
  register(live: LiveSession): void
  /** Sends a returned client its present state, and calls the script. */
  begin(live: LiveSession, settled: () => void): void
  /** The connection is fenced. */
  depart(live: LiveSession, seat: SeatFate): void
}

type ArrivalsDeps = {
  registry: Registry
  script: GameScript
  seats: Seats
  serverTime: ServerTime
  nextParticipantId(): number
  recheck: Revocation['recheck']
  finish(participant: Participant, departure: Departure): void
  /** An account has its first connection. */
  cameOnline(userId: string): void
}

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const { registry, script, seats } = deps
  return {
    replace({ session_id }) {
      registry.bySession(session_id)?.end(closings.sessionReplaced)
    },
    place(live, player) {
      const claimed = player && seats.claim(player, live)
      const participant = claimed ?? newParticipant(deps.nextParticipantId(), player)
      participant.live = live
      participant.receiver = live
      return participant
    },
    register(live) {
      const { user_id } = live.participant.context
      const isFirst = user_id !== null && !registry.isConnected(user_id)
      registry.add(live)
      deps.serverTime.offerUnasked(live)
      if (isFirst) deps.cameOnline(user_id)
    },
    begin(live, settled) {
      const { context, session_id } = live.participant
      if (seats.isReturning(live)) seats.welcome(live, settled)
      else script.join(context, settled)
      if (session_id !== null) deps.recheck(session_id)
    },
    depart(live, seat) {
      const { participant } = live
      if (seat !== 'none' && seats.mayKeep(participant)) return seats.drop(live, seat)
      registry.disconnect(live)
      deps.finish(participant, 'disconnected')
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
    participant.live = undefined
    participant.receiver = nobody
    script.leave(participant.context)
    disconnected.cancelTicket(participant)
    rooms.leave(participant, departure)
    topics.leaveAll(participant)
    disconnected.updateParty(participant)
    registry.remove(participant)
  }
}
