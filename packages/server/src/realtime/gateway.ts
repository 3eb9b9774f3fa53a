import type { MatchmakerTotals } from '@guildhall/contract'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import type { Delivery } from '../kernel/play/delivery.ts'
import type { MatchRecorder } from '../kernel/play/match-recorder.ts'
import type { RoomCommands, RoomStates } from '../kernel/play/room-commands.ts'
import type { TransportConfig } from './config.ts'
import type { ConnectedPlayers } from './connected-players.ts'
import { closings } from './connection/closing/closings.ts'
import { createEdge } from './connection/edge.ts'
import type { Acceptor } from './connection/transports/transport.ts'
import type { GatewayMetrics } from './metrics.ts'
import { ownCoordination } from './play/coordination.port.ts'
import { alone } from './play/elsewhere.port.ts'
import type { MatchmakerConfig } from './play/matchmaker/config.ts'
import type { Matchmaker } from './play/matchmaker/matchmaker.ts'
import type { PartyConfig } from './play/parties/config.ts'
import type { People } from './play/parties/people.port.ts'
import { createPlay, type Play } from './play/play.ts'
import type { RoomsConfig } from './play/rooms/config.ts'
import type { PlayPort } from './play.port.ts'
import type { GameScript, LiveSessions, VerifyPlayer } from './ports.ts'
import { createRelay, type Relay } from './relay/relay.ts'
import type { ClusterDeps } from './relay/relay-deps.ts'
import { createRelief } from './relief.ts'
import { createRevocation } from './revocation.ts'

export type GatewayDeps = {
  /** The `transport` section of the configuration. */
  config: TransportConfig
  rooms: RoomsConfig
  matchmaker: MatchmakerConfig
  party: PartyConfig
  people: People
  /** When clients are offered the time of the server: when they ask, or with every handshake. */
  serverTimeOffer: 'on_request' | 'always'
  /** Who is connected: empty, and the gateway's alone to fill. */
  online: ConnectedPlayers
  clock: Clock
  ids: Pick<Ids, 'durable' | 'bytes'>
  log: Log
  script: GameScript
  verifyPlayer: VerifyPlayer
  liveSessions: LiveSessions
  /** A ticket has been matched after so long. */
  observeWait?: ((waitedMs: number) => void) | undefined
  /** Keeps the durable records of matches; `noMatchRecords` for a database in memory. */
  records: MatchRecorder
  /** False while the node has lost its node id; no room is made then. */
  mayMakeRooms(): boolean
  /** 0 on a node without cluster, 1..4095 otherwise; part of every participant and room id. */
  nodeSlot(): number
  /** Absent, the node plays with itself. */
  cluster?: ClusterDeps | undefined
  /** How the edge reaches the owner of its players; absent, it is the one of this gateway. */
  reachOwner?: ((own: PlayPort) => PlayPort) | undefined
}

/** Everything realtime of one node, whatever the transports are. */
export type Gateway = Acceptor &
  Delivery &
  RoomCommands & {
    /** To be called at the commit that revoked the sessions; closes with 4004. */
    closeSessions(sessionIds: readonly string[]): void
    /**
     * Checks every connected session again, after revocations may have been missed.
     *
     * @throws what the `liveSessions` port throws; call it again then
     */
    revalidate(): Promise<void>
    metrics(): GatewayMetrics
    /** What joins it with the other nodes; undefined without a cluster. */
    readonly relay: Relay | undefined
    /** What an edge asks of the owner here. */
    readonly owner: PlayPort
    /** What the script says of the states of rooms. */
    readonly states: RoomStates
    /** What the matchmaker did so far, and how many tickets wait. */
    matchmaker(): MatchmakerTotals
    /** Offers of free seats in running rooms. */
    backfill: Matchmaker['backfill']
    /** Ends every room, seat and connection, and goes on: its ids are another node's. */
    beginAnew(): void
    /**
     * Accepts nothing more, ends every room and every seat, closes every connection with 1001 and
     * resolves when all are gone.
     */
    close(): Promise<void>
  }

/** The edge and the owner of one node, which plays with itself. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { config, online } = deps
  const { metrics, sessions, registry, recording } = online
  const log = deps.log.component('realtime')
  const totals = { queuedBytes: 0, highWaterBytes: 0 }
  const relieve = createRelief({
    totals,
    queuedBytesMax: config.limits.max_queued_bytes_total,
    flush: () => edge.flush(),
    largest: [() => edge.largest(), () => play.largestSeat()],
  })
  const relay = deps.cluster && createClusterRelay(deps, deps.cluster, () => play)
  const play: Play = createPlay({
    ...deps,
    ...{ limits: config.limits, metrics, registry, totals, relieve },
    elsewhere: relay?.elsewhere ?? alone,
    coordination: relay?.coordination ?? ownCoordination,
    others: online.others,
  })
  if (relay !== undefined) online.joinOthers(relay.others)
  const revocation = createRevocation({
    ...deps,
    log,
    sessionIds: () => [...sessions.ids(), ...play.seats.sessionIds()],
    closeSessions(sessionIds) {
      edge.closeSessions(sessionIds)
      play.seats.endSessions(sessionIds)
    },
  })
  const edge = createEdge({
    ...deps,
    ...{ metrics, totals, relieve, sessions, recording },
    verifyPlayer: relay?.numbering(deps.verifyPlayer) ?? deps.verifyPlayer,
    graceMs: deps.rooms.reconnect_grace_ms,
    recheck: revocation.recheck,
    play: deps.reachOwner?.(play.port) ?? play.port,
  })
  return {
    ...play.delivery,
    ...play.commands,
    closeSessions: revocation.closeSessions,
    revalidate: revocation.revalidate,
    metrics: () => ({ ...metrics }),
    owner: play.port,
    states: play.states,
    matchmaker: play.matchmaker,
    backfill: play.backfill,
    refuses: edge.refuses,
    accept: edge.accept,
    relay,
    beginAnew() {
      play.endAll()
      edge.endAll()
    },
    async close() {
      await relay?.leave()
      play.close()
      await edge.close()
      await relay?.stop()
    },
  }
}

function createClusterRelay(deps: GatewayDeps, cluster: ClusterDeps, play: () => Play): Relay {
  return createRelay({
    ...cluster,
    clock: deps.clock,
    log: deps.log.component('cluster'),
    randomness: deps.ids.bytes,
    metrics: deps.online.metrics,
    graceMs: deps.rooms.reconnect_grace_ms,
    registry: deps.online.registry,
    replaceSession(sessionId, participant) {
      const older = deps.online.sessions.byId(sessionId)
      // The seat waits for the newer connection, as one that was lost.
      const closing = { ...closings.sessionReplaced, seat: 'kept' } as const
      if (older?.isParticipant(participant)) older.end(closing)
    },
    play,
  })
}
