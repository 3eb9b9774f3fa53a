import { z } from 'zod'
import type { Replaced } from '../../kernel/cluster/directory.ts'
import type { Participant } from '../play/participants/participant.ts'
import { type Asks, silent } from './asks.ts'
import type { RelayDeps } from './relay-deps.ts'

/** An older connection gives its participant to a newer one of its session, on another node. */
export type HandOvers = {
  /** Ends the connection; the node that has the seat of its participant, if there is one. */
  ask(older: Replaced): Promise<string | undefined>
}

type HandOverDeps = Pick<RelayDeps, 'commandTimeoutMs' | 'replaceSession'> & {
  asks: Asks
  registry: Pick<RelayDeps['registry'], 'byId'>
  /** The node of a participant's room, once that keeps the seat. */
  seatOf(participant: Participant): { kept(): Promise<string | undefined> }
}

const about = 'hand over'
const question = z.object({ session_id: z.string(), participant: z.number().int().min(0) })
const answer = z.string()

export function createHandOvers(deps: HandOverDeps): HandOvers {
  const { asks, registry } = deps

  asks.serve(about, async (value) => {
    const { data: older } = question.safeParse(value)
    const participant = older && registry.byId(older.participant)
    if (older === undefined || participant?.session_id !== older.session_id) return null
    const seat = deps.seatOf(participant)
    deps.replaceSession(older.session_id, older.participant)
    return (await seat.kept()) ?? null
  })

  return {
    async ask({ boot_id, session_id, participant }) {
      const value = { session_id, participant }
      const said = await asks.ask(boot_id, { about, value }, deps.commandTimeoutMs)
      return said === silent ? undefined : answer.safeParse(said).data
    },
  }
}
