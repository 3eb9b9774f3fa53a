import type { LiveSession } from '../../connection/live/live-session.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Participant } from './participant.ts'

/**
 * Who plays on this node: all participants by id, dropped ones included, and those that are
 * connected also by user id and by session.
 */
export type Registry = {
  add(live: LiveSession): void
  /** The connection is gone, its participant stays. */
  disconnect(live: LiveSession): void
  /** The participant has ended; its connection was taken off before. */
  remove(participant: Participant): void
  byId(participant: number): Participant | undefined
  bySession(sessionId: string): LiveSession | undefined
  /** The connections of an account, the longest connected first. */
  byUser(userId: string): Iterable<LiveSession>
  isConnected(userId: string): boolean
  /** Since when an account has had connections without a gap, on the monotonic clock. */
  connectedSinceMs(userId: string): number | undefined
  /** Everybody, dropped ones included. */
  participants(): Iterable<Participant>
  connected(): Iterable<LiveSession>
  sessionIds(): string[]
  /** Connected participants outside any room; rooms keep it. */
  readonly roomless: Set<Participant>
}

export function createRegistry(metrics: GatewayMetrics): Registry {
  const participants = new Map<number, Participant>()
  const connected = new Set<LiveSession>()
  const sessions = new Map<string, LiveSession>()
  const users = new Map<string, Connections>()
  const roomless = new Set<Participant>()

  function count(): void {
    metrics.participants_active = connected.size
    metrics.sessions_active = sessions.size
  }

  return {
    roomless,
    add(live) {
      const { participant } = live
      const { session_id, context } = participant
      participants.set(context.participant, participant)
      connected.add(live)
      if (participant.room === undefined) roomless.add(participant)
      if (session_id !== null) sessions.set(session_id, live)
      if (context.user_id !== null) addTo(users, context.user_id, live)
      count()
    },
    disconnect(live) {
      const { session_id, context } = live.participant
      connected.delete(live)
      roomless.delete(live.participant)
      if (context.user_id !== null) removeFrom(users, context.user_id, live)
      // A newer connection of the session is added only after this one is gone.
      if (session_id !== null) sessions.delete(session_id)
      count()
    },
    remove({ context }) {
      participants.delete(context.participant)
    },
    byId: (participant) => participants.get(participant),
    bySession: (sessionId) => sessions.get(sessionId),
    byUser: (userId) => users.get(userId)?.live ?? [],
    isConnected: (userId) => users.has(userId),
    connectedSinceMs: (userId) => users.get(userId)?.sinceMs,
    participants: () => participants.values(),
    connected: () => connected,
    sessionIds: () => [...sessions.keys()],
  }
}

/**
 * Makes the ids of one family. `nodeSlot` is 0..4095 and 0 on a node without cluster. Ids count
 * from 1 per boot and are never reused within one, so that a late message cannot reach the wrong
 * participant or room.
 */
export function countingIds(nodeSlot: number): () => number {
  let made = 0
  return () => {
    made += 1
    return nodeSlot * 2 ** 40 + made
  }
}

/** The connections of one account. */
type Connections = { readonly sinceMs: number; readonly live: Set<LiveSession> }

function addTo(index: Map<string, Connections>, key: string, live: LiveSession): void {
  const found = index.get(key)
  if (found === undefined) index.set(key, { sinceMs: live.client.sinceMs, live: new Set([live]) })
  else found.live.add(live)
}

function removeFrom(index: Map<string, Connections>, key: string, live: LiveSession): void {
  const found = index.get(key)
  found?.live.delete(live)
  if (found?.live.size === 0) index.delete(key)
}
