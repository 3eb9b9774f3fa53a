import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Directory } from '../../kernel/cluster/directory.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'
import type { Randomness } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Gathered } from '../play/coordination.port.ts'
import type { Local } from '../play/participants/local.ts'
import type { Registry } from '../play/participants/registry.ts'
import type { Visits } from '../play/visits.ts'
import type { PlayPort } from '../play.port.ts'

/** What a node needs to play together with others. */
export type ClusterDeps = {
  bus: Bus
  directory: Directory
  membership: Membership
  /** How long another node may take to answer, in milliseconds. */
  commandTimeoutMs: number
}

export type RelayDeps = ClusterDeps & {
  clock: Clock
  log: Log
  randomness: Randomness
  metrics: GatewayMetrics
  /** How long a seat is kept; 0 keeps none. */
  graceMs: number
  /** The owner of this node; asked when there is something to ask only. */
  play(): { port: PlayPort; visits: Visits; local: Local; gathered: Gathered }
  registry: Pick<Registry, 'byId' | 'watch' | 'connected'>
  /** Another node has a newer connection of a session. */
  replaceSession(sessionId: string, participant: number): void
}
