import type { GatewayMetrics } from '../../metrics.ts'
import type { Participant } from './participant.ts'

/**
 * Who plays here: all participants by id, those dropped or of other nodes included, and those that
 * are connected here also by user id.
 */
export type Registry = {
  /** The participant is connected from here on. */
  add(participant: Participant): void
  /** The connection is gone, its participant stays. */
  disconnect(participant: Participant): void
  /** The participant has ended; its connection was taken off before. */
  remove(participant: Participant): void
  byId(participant: number): Participant | undefined
  /** The connected participants of an account, the longest connected first. */
  byUser(userId: string): Iterable<Participant>
  isConnected(userId: string): boolean
  /** Since when an account has had connections without a gap, on the monotonic clock. */
  connectedSinceMs(userId: string): number | undefined
  /** Everybody, dropped ones included. */
  participants(): Iterable<Participant>
  connected(): Iterable<Participant>
  /** Where a participant is has changed. */
  touch(participant: Participant): void
  /** Calls `listener` whenever where a participant is may have changed. */
  watch(listener: (participant: Participant) => void): void
  /** Connected participants outside any room; rooms keep it. */
  readonly roomless: Set<Participant>
}

export function createRegistry(metrics: GatewayMetrics): Registry {
  const participants = new Map<number, Participant>()
  const connected = new Set<Participant>()
  const users = new Map<string, Connected>()
  const roomless = new Set<Participant>()
  let watcher: ((participant: Participant) => void) | undefined

  return {
    roomless,
    add(participant) {
      const { context, room, connectedSinceMs } = participant
      participants.set(context.participant, participant)
      watcher?.(participant)
      // Connected it is at its own node.
      if (participant.relayed) return
      connected.add(participant)
      if (room === undefined) roomless.add(participant)
      if (context.user_id !== null) {
        const known = users.get(context.user_id)
        if (known !== undefined) known.participants.add(participant)
        else {
          const first = { sinceMs: connectedSinceMs, participants: new Set([participant]) }
          users.set(context.user_id, first)
        }
      }
      metrics.participants_active = connected.size
    },
    disconnect(participant) {
      watcher?.(participant)
      const { user_id } = participant.context
      connected.delete(participant)
      roomless.delete(participant)
      const account = user_id === null ? undefined : users.get(user_id)
      account?.participants.delete(participant)
      if (user_id !== null && account?.participants.size === 0) users.delete(user_id)
      metrics.participants_active = connected.size
    },
    remove(participant) {
      participants.delete(participant.context.participant)
      watcher?.(participant)
    },
    touch: (participant) => watcher?.(participant),
    watch(listener) {
      watcher = listener
    },
    byId: (participant) => participants.get(participant),
    byUser: (userId) => users.get(userId)?.participants ?? [],
    isConnected: (userId) => users.has(userId),
    connectedSinceMs: (userId) => users.get(userId)?.sinceMs,
    participants: () => participants.values(),
    connected: () => connected,
  }
}

/** The connected participants of one account. */
type Connected = { readonly sinceMs: number; readonly participants: Set<Participant> }
