import type { MatchmakerTotals } from '@guildhall/contract'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import type { Delivery } from '../kernel/play/delivery.ts'
import type { MatchRecorder } from '../kernel/play/match-recorder.ts'
import type { RoomCommands } from '../kernel/play/room-commands.ts'
import { createDeadlineQueue } from '../kernel/time/deadline-queue.ts'
import type { TransportConfig } from './config.ts'
import { closings } from './connection/closing/closings.ts'
import { type ConnectionCaps, createConnectionCaps } from './connection/connection-caps.ts'
import type { ConnectionDeps } from './connection/connection-deps.ts'
import { createDispatch, isForScript } from './connection/dispatch/dispatch.ts'
import { handshakePolicy } from './connection/greeting/handshake.ts'
import { createReadingPauses } from './connection/inbound/reading-pauses.ts'
import { createScriptTurns } from './connection/inbound/script-turns.ts'
import { PlayerConnection } from './connection/player-connection.ts'
import { createRpc } from './connection/rpc/rpc.ts'
import type { QueueLedger } from './connection/send-queue/send-queue.ts'
import { createTurnBatch } from './connection/send-queue/turn-batch.ts'
import { startSweeper } from './connection/sweeper.ts'
import type { Acceptor, Connection, ConnectionEvents } from './connection/transports/transport.ts'
import type { GatewayMetrics } from './metrics.ts'
import type { MatchmakerConfig } from './play/matchmaker/config.ts'
import type { Matchmaker } from './play/matchmaker/matchmaker.ts'
import type { ConnectedPlayers } from './play/participants/connected-players.ts'
import { createPlayers, type Players } from './play/participants/players.ts'
import { createPositionRelay } from './play/participants/position-relay.ts'
import type { PartyConfig } from './play/parties/config.ts'
import type { People } from './play/parties/people.port.ts'
import type { RoomsConfig } from './play/rooms/config.ts'
import type { GameScript, LiveSessions, VerifyPlayer } from './ports.ts'

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
  /** 0 on a node without cluster, 0..4095 otherwise; part of every participant and room id. */
  nodeSlot: number
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
    /** What the matchmaker did so far, and how many tickets wait. */
    matchmaker(): MatchmakerTotals
    /** Offers of free seats in running rooms. */
    backfill: Matchmaker['backfill']
    /**
     * Accepts nothing more, ends every room and every seat, closes every connection with 1001 and
     * resolves when all are gone.
     */
    close(): Promise<void>
  }

const drainMs = 1000
const partingMs = 2000
const shutdownMs = 10_000

export function createGateway(deps: GatewayDeps): Gateway {
  const { clock, config } = deps
  const { metrics } = deps.online
  const ledger = { queuedBytes: 0, highWaterBytes: 0 }
  const players = createPlayers({
    ...deps,
    metrics,
    ledger,
    relieve: () => connectionDeps.relieve(),
  })
  const { seats, revocation, commands } = players
  const caps = createConnectionCaps(config.limits, metrics)
  const connected = new Set<PlayerConnection>()
  const sweeper = startSweeper({ clock, metrics, ledger, connected, seats })
  let allGone: (() => void) | undefined
  let closing: Promise<void> | undefined

  const onGone = () => {
    if (connected.size === 0) allGone?.()
  }
  const connectionDeps: ConnectionDeps = createConnectionDeps({
    ...deps,
    metrics,
    ledger,
    players,
    caps,
    connected,
    onGone,
  })

  async function close(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      allGone = resolve
    })
    players.matchmaker.stop()
    commands.closeAll()
    seats.endAll()
    for (const connection of connected) connection.end(closings.shutdown)
    if (connected.size === 0) allGone?.()
    const limit = clock.after(shutdownMs, () => {
      for (const connection of connected) connection.destroy()
    })
    await gone
    limit.cancel()
    sweeper.cancel()
  }

  return {
    ...players.delivery,
    ...commands,
    closeSessions: revocation.closeSessions,
    revalidate: revocation.revalidate,
    metrics: () => ({ ...metrics }),
    matchmaker: players.matchmaker.counts,
    backfill: players.matchmaker.backfill,
    refuses: caps.refuses,
    accept(connection: Connection): ConnectionEvents {
      caps.opened(connection.limitGroup)
      const accepted = new PlayerConnection(connection, connectionDeps)
      connected.add(accepted)
      // An upgrade that was in progress when the shutdown began ends like everybody else.
      if (closing !== undefined) accepted.end(closings.shutdown)
      return accepted
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

type Parts = GatewayDeps & {
  metrics: GatewayMetrics
  ledger: QueueLedger
  players: Players
  caps: ConnectionCaps
  connected: Set<PlayerConnection>
  onGone(): void
}

function createConnectionDeps(parts: Parts): ConnectionDeps {
  const { config, clock, script, metrics, players, caps, connected } = parts
  const { heartbeat_interval_ms, heartbeat_timeout_ms } = config.websocket
  const pauses = createReadingPauses(clock)
  const scriptTurns = createScriptTurns(script)
  const flushes = createTurnBatch((connection: PlayerConnection) => connection.flush())
  const deadline = (delayMs: number, onDue: (connection: PlayerConnection) => void) =>
    createDeadlineQueue({ clock, delayMs }, onDue)
  return {
    ...parts,
    arrivals: players.arrivals,
    limits: config.limits,
    policy: handshakePolicy(config.auth),
    liveness: { intervalMs: heartbeat_interval_ms, timeoutMs: heartbeat_timeout_ms },
    greetings: deadline(config.auth.handshake_timeout_ms, (connection) => connection.timeOut()),
    drains: deadline(drainMs, (connection) => connection.part()),
    partings: deadline(partingMs, (connection) => connection.destroy()),
    dispatch: createDispatch({
      ...players,
      metrics,
      script,
      maxEnvelopeBytes: config.limits.max_envelope_bytes,
      rpc: createRpc({
        script,
        inFlightMax: config.limits.rpc_in_flight,
        builtIns: players.builtIns,
      }),
      relayPosition: createPositionRelay({ clock, metrics, registry: players.registry }),
      isReturning: players.seats.isReturning,
    }),
    heldForScript: { bytes: 0 },
    scriptTurns,
    isForScript: (envelope) => isForScript(script, envelope),
    flushLater: flushes.add,
    relieve: () => relieve(parts, flushes.runNow),
    awaitRate: pauses.awaitRate,
    decided: caps.decided,
    gone(connection) {
      connected.delete(connection)
      pauses.forget(connection)
      scriptTurns.forget(connection)
      caps.closed(connection.limitGroup)
      parts.onGone()
    },
  }
}

/** Gives memory back by closing the connections and ending the seats that hold most of it. */
function relieve({ config, ledger, connected, players }: Parts, flushNow: () => void): void {
  const { max_queued_bytes_total } = config.limits
  if (ledger.queuedBytes <= max_queued_bytes_total) return
  flushNow()
  while (ledger.queuedBytes > max_queued_bytes_total) {
    let largest: PlayerConnection | undefined
    for (const connection of connected) {
      if (connection.queuedBytes > (largest?.queuedBytes ?? 0)) largest = connection
    }
    const seat = players.seats.largest()
    if (seat !== undefined && seat.bytes > (largest?.queuedBytes ?? 0)) {
      players.seats.end(seat.participant, 'disconnected')
    } else if (largest !== undefined) {
      largest.endAsSlow()
    } else return
  }
}
