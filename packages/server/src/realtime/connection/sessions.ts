import type { GatewayMetrics } from '../metrics.ts'
import type { Claimed } from '../play.port.ts'
import type { Closing } from './closing/closings.ts'

type Connected = {
  end(closing: Closing): void
  /** Whether it plays as this participant. */
  isParticipant(participant: number): boolean
  /** The seat that it has claimed and was not given yet; it does without from here on. */
  takeClaim(): Promise<Claimed | undefined> | undefined
}

/** The connections of sessions; each session has one at most. */
export type Sessions = {
  /** An older connection of the session has ended before. */
  add(sessionId: string, connection: Connected): void
  remove(sessionId: string): void
  byId(sessionId: string): Connected | undefined
  has(sessionId: string): boolean
  ids(): string[]
}

export function createSessions(metrics: GatewayMetrics): Sessions {
  const sessions = new Map<string, Connected>()
  return {
    add(sessionId, connection) {
      sessions.set(sessionId, connection)
      metrics.sessions_active = sessions.size
    },
    remove(sessionId) {
      sessions.delete(sessionId)
      metrics.sessions_active = sessions.size
    },
    byId: (sessionId) => sessions.get(sessionId),
    has: (sessionId) => sessions.has(sessionId),
    ids: () => [...sessions.keys()],
  }
}
