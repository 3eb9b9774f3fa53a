import { kinds, peerPositionBody } from '@guildhall/contract'
import type { Registry } from './registry.ts'
import { outgoingFrame } from './send-queue/outgoing-frame.ts'
import type { LiveSession } from './session/live-session.ts'

/** How envelopes reach participants: what scripts send, and what the gateway relays itself. */
export type Delivery = {
  /** Sends to everybody of the scope but `sender` and `except`. `body` is copied. */
  broadcast(command: Broadcast): void
  /** Sends to participants; one that is unknown or gone is no error. `body` is copied. */
  send(command: Send): void
  sessions(): ConnectedSession[]
  /** Which of these accounts have a connection now, in the order given. */
  online(userIds: readonly string[]): string[]
  /**
   * Sends to all connections of these accounts; null reaches the connections of every account,
   * guests left out. `body` is copied.
   */
  push(userIds: readonly string[] | null, kind: number, body: Uint8Array): void
}

export type Broadcast = {
  kind: number
  body: Uint8Array
  unreliable: boolean
  /** 0 excludes nobody. */
  sender: number
  except: readonly number[]
  /** Null reaches every session. */
  room_id: number | null
  /** Reaches those who are in the topic instead. */
  topic?: string
}

export type Send = {
  kind: number
  body: Uint8Array
  unreliable: boolean
  participants: readonly number[]
}

export type ConnectedSession = {
  participant: number
  user_id: string | null
  username: string | null
  room_id: number | null
}

/** Above this many peers a position outside rooms is not passed on. */
const roomlessPeersMax = 256

export function createDelivery(registry: Registry): Delivery {
  return {
    broadcast({ kind, body, unreliable, sender, except, room_id, topic }) {
      // Nobody is in a room or topic yet, so neither has receivers.
      if (room_id !== null || topic !== undefined) return
      const frame = outgoingFrame(kind, body)
      const excluded = new Set(except).add(sender)
      for (const live of registry.all()) {
        if (excluded.has(live.participant.context.participant)) continue
        live.deliver(frame, unreliable)
      }
    },
    send({ kind, body, unreliable, participants }) {
      const frame = outgoingFrame(kind, body)
      for (const participant of participants) {
        registry.byId(participant)?.deliver(frame, unreliable)
      }
    },
    online: (userIds) => [...new Set(userIds)].filter(registry.isConnected),
    push(userIds, kind, body) {
      const frame = outgoingFrame(kind, body)
      if (userIds === null) {
        for (const live of registry.all()) {
          if (live.participant.context.user_id !== null) live.deliver(frame, false)
        }
        return
      }
      for (const userId of new Set(userIds)) {
        for (const live of registry.byUser(userId)) live.deliver(frame, false)
      }
    },
    sessions() {
      return Array.from(registry.all(), ({ participant: { context } }) => ({
        participant: context.participant,
        user_id: context.user_id,
        username: context.username,
        room_id: context.room_id,
      }))
    },
  }
}

/** Passes a position to the sender's peers; false when they are too many for that. */
export function createPositionRelay(registry: Registry) {
  return (live: LiveSession, position: Uint8Array): boolean => {
    if (registry.size - 1 > roomlessPeersMax) return false
    const { participant } = live.participant.context
    const body = peerPositionBody.encode({ participant, position })
    const frame = outgoingFrame(kinds.PEER_POSITION.first, body)
    for (const peer of registry.all()) if (peer !== live) peer.deliver(frame, true)
    return true
  }
}
