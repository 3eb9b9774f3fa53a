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

type OfSession = Pick<Replaced, 'session_id' | 'participant'>

type HandOverDeps = Pick<RelayDeps, 'commandTimeoutMs' | 'replaceSession'> & {
  asks: Asks
  registry: Pick<RelayDeps['registry'], 'byId'>
  /** The node of a participant's room, once that keeps the seat. */
  seatOf(participant: Participant): { kept(): Promise<string | undefined> }
  /** The node that has the seat of a participant that has just dropped here. */
  takeDropped(older: OfSession): string | undefined
  /** The node that has the participant of a session from here; it is forgotten then. */
  takeGiven(sessionId: string): Replaced | undefined
  /** Another node has the participant from here on. */
  given(older: OfSession, boot: string): void
}

const about = 'hand over'
const aboutAsked = 'hand over asked'
const question = z.object({ session_id: z.string(), participant: z.number().int().min(0) })
const answer = z.string()

export function createHandOvers(deps: HandOverDeps): HandOvers {
  const { asks } = deps
  /** The node of each question without an answer. */
  const asked = new Map<string, string>()

  function byId({ session_id, participant: id }: OfSession): Participant | undefined {
    const participant = deps.registry.byId(id)
    return participant?.session_id === session_id ? participant : undefined
  }

  /** A question may be late, and the connection newer than that of who asked. */
  async function isMeant(participant: Participant, older: OfSession, from: string) {
    if (!participant.isConnected) return true
    if (participant.relayed) return false
    const { receiver } = participant
    const said = await asks.ask(from, { about: aboutAsked, value: older }, deps.commandTimeoutMs)
    return said === true && participant.receiver === receiver
  }

  async function give(older: OfSession, from: string): Promise<string | undefined> {
    const participant = byId(older)
    if (participant === undefined) return deps.takeDropped(older) ?? passOn(older)
    if (!(await isMeant(participant, older, from))) return undefined
    const seat = deps.seatOf(participant)
    deps.replaceSession(older.session_id, older.participant)
    return seat.kept()
  }

  /** The node that was given the participant gives it on. */
  async function passOn(older: OfSession): Promise<string | undefined> {
    const there = deps.takeGiven(older.session_id)
    return there?.participant === older.participant ? ask(there) : undefined
  }

  async function ask({ boot_id, session_id, participant }: Replaced): Promise<string | undefined> {
    const value = { session_id, participant }
    const key = keyOf(value)
    asked.set(key, boot_id)
    const said = await asks.ask(boot_id, { about, value }, deps.commandTimeoutMs)
    asked.delete(key)
    return said === silent ? undefined : answer.safeParse(said).data
  }

  asks.serve(aboutAsked, async (value, from) => {
    const { data: older } = question.safeParse(value)
    return older !== undefined && asked.get(keyOf(older)) === from
  })

  asks.serve(about, async (value, from) => {
    const { data: older } = question.safeParse(value)
    if (older === undefined) return null
    const boot = await give(older, from)
    if (boot === undefined) return null
    deps.given(older, from)
    return boot
  })

  return { ask }
}

function keyOf({ session_id, participant }: OfSession): string {
  return `${session_id} ${participant}`
}
