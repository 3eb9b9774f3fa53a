import type { LivePlayers } from '../kernel/play/delivery.ts'
import {
  createRecordingClients,
  type RecordingClients,
} from './connection/recording/recording-clients.ts'
import { createSessions, type Sessions } from './connection/sessions.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import { nobodyElse, type Others } from './play/others.port.ts'
import { createKnownPlayers } from './play/participants/known-players.ts'
import { createLivePlayers } from './play/participants/live-players.ts'
import { createRegistry, type Registry } from './play/participants/registry.ts'

/**
 * Who is connected to this node. It is made first: features send to players through it, and the
 * gateway, which is built with the features, lets players in.
 */
export type ConnectedPlayers = {
  readonly metrics: GatewayMetrics
  readonly sessions: Sessions
  readonly registry: Registry
  /** Those of them whose clients can record for lag captures. */
  readonly recording: RecordingClients
  /** What features and scripts send by themselves. */
  readonly live: LivePlayers
  /** The other nodes; nobody without a cluster. */
  others(): Others
  joinOthers(others: Others): void
}

export function createConnectedPlayers(): ConnectedPlayers {
  const metrics = createGatewayMetrics()
  const registry = createRegistry(metrics)
  const sessions = createSessions(metrics)
  let joined = nobodyElse
  const others = () => joined
  const live = { ...createLivePlayers(registry, others), isConnected: sessions.has }
  const recording = createRecordingClients(createKnownPlayers(registry))
  return {
    ...{ metrics, sessions, registry, recording, live, others },
    joinOthers(given) {
      joined = given
    },
  }
}
