import type { GatewayMetrics } from './metrics.ts'
import type { LiveSession } from './session/live-session.ts'

/** Who is connected: by participant id, and for accounts by user id and by session. */
export type Registry = {
  /** Gives the next id of this boot. */
  nextId(): number
  add(live: LiveSession): void
  remove(live: LiveSession): void
  byId(participant: number): LiveSession | undefined
  bySession(sessionId: string): LiveSession | undefined
  /** The connections of an account, the longest connected first. */
  byUser(userId: string): Iterable<LiveSession>
  isConnected(userId: string): boolean
  all(): Iterable<LiveSession>
  sessionIds(): string[]
  readonly size: number
}

/**
 * `nodeSlot` is 0..4095 and 0 on a node without cluster. Ids count from 1 per boot and are never
 * reused within one, so that a late message cannot reach the wrong participant.
 */
export function createRegistry(nodeSlot: number, metrics: GatewayMetrics): Registry {
  const participants = new Map<number, LiveSession>()
  const sessions = new Map<string, LiveSession>()
  const users = new Map<string, Set<LiveSession>>()
  let made = 0

  function count(): void {
    metrics.participants_active = participants.size
    metrics.sessions_active = sessions.size
  }

  return {
    get size() {
      return participants.size
    },
    nextId() {
      made += 1
      return nodeSlot * 2 ** 40 + made
    },
    add(live) {
      participants.set(live.participant.context.participant, live)
      const { session_id, context } = live.participant
      if (session_id !== null) sessions.set(session_id, live)
      if (context.user_id !== null) addTo(users, context.user_id, live)
      count()
    },
    remove(live) {
      participants.delete(live.participant.context.participant)
      const { session_id, context } = live.participant
      if (context.user_id !== null) removeFrom(users, context.user_id, live)
      // A newer connection of the session is added only after this one is gone.
      if (session_id !== null) sessions.delete(session_id)
      count()
    },
    byId: (participant) => participants.get(participant),
    bySession: (sessionId) => sessions.get(sessionId),
    byUser: (userId) => users.get(userId) ?? [],
    isConnected: (userId) => users.has(userId),
    all: () => participants.values(),
    sessionIds: () => [...sessions.keys()],
  }
}

function addTo(index: Map<string, Set<LiveSession>>, key: string, live: LiveSession): void {
  const found = index.get(key)
  if (found === undefined) index.set(key, new Set([live]))
  else found.add(live)
}

function removeFrom(index: Map<string, Set<LiveSession>>, key: string, live: LiveSession): void {
  const found = index.get(key)
  found?.delete(live)
  if (found?.size === 0) index.delete(key)
}
