import type { GameScript, Player } from './ports.ts'
import type { Registry } from './registry.ts'
import type { Revocation } from './revocation.ts'
import { closings, type SeatFate } from './session/closings.ts'
import type { LiveSession } from './session/live-session.ts'
import { newParticipant, type Participant } from './session/participant.ts'

/** What happens when a connection becomes a participant, and when it stops being one. */
export type Arrivals = {
  /** Ends an older connection of the session; before the new one has its AUTH_RESULT. */
  replace(player: Player): void
  /** The participant that the connection plays as. */
  place(live: LiveSession, player: Player | undefined): Participant
  register(live: LiveSession): void
  /** Calls the script; `settled` is called once it has had its say. */
  begin(live: LiveSession, settled: () => void): void
  /** The connection is fenced. */
  depart(live: LiveSession, seat: SeatFate): void
}

type ArrivalsDeps = { registry: Registry; script: GameScript; recheck: Revocation['recheck'] }

export function createArrivals({ registry, script, recheck }: ArrivalsDeps): Arrivals {
  return {
    replace({ session_id }) {
      registry.bySession(session_id)?.end(closings.sessionReplaced)
    },
    place(live, player) {
      const participant = newParticipant(registry.nextId(), player)
      participant.live = live
      participant.receiver = live
      return participant
    },
    register: (live) => registry.add(live),
    begin(live, settled) {
      const { context, session_id } = live.participant
      script.join(context, settled)
      if (session_id !== null) recheck(session_id)
    },
    // The order of the end of a participant. Tickets, rooms and parties come between the two.
    depart(live) {
      script.leave(live.participant.context)
      registry.remove(live)
    },
  }
}
