import type { LivePlayers } from '../../../kernel/play/delivery.ts'
import type { LiveSession } from '../../connection/live/live-session.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import { createGatewayMetrics, type GatewayMetrics } from '../../metrics.ts'
import { createRegistry, type Registry } from './registry.ts'

/**
 * Who is connected to this node. It is made first: features send to players through it, and the
 * gateway, which is built with the features, lets players in.
 */
export type ConnectedPlayers = {
  readonly metrics: GatewayMetrics
  readonly registry: Registry
  /** What features and scripts send by themselves. */
  readonly live: LivePlayers
}

export function createConnectedPlayers(): ConnectedPlayers {
  const metrics = createGatewayMetrics()
  const registry = createRegistry(metrics)
  return { metrics, registry, live: createLivePlayers(registry) }
}

function createLivePlayers(registry: Registry): LivePlayers {
  function connectionsOf(userIds: readonly string[] | null): Iterable<LiveSession> {
    return userIds === null
      ? Iterator.from(registry.connected()).filter(isAccount)
      : Iterator.from(new Set(userIds)).flatMap(registry.byUser)
  }

  return {
    send({ kind, body, unreliable, participants }) {
      const frame = outgoingFrame(kind, body)
      for (const participant of participants) {
        registry.byId(participant)?.receiver.deliver(frame, unreliable)
      }
    },
    push(userIds, kind, body) {
      const frame = outgoingFrame(kind, body)
      for (const live of connectionsOf(userIds)) live.deliver(frame, false)
    },
    accountOf: (participant) => registry.byId(participant)?.context.user_id ?? null,
    isConnected: (sessionId) => registry.bySession(sessionId) !== undefined,
  }
}

function isAccount({ participant }: LiveSession): boolean {
  return participant.context.user_id !== null
}
