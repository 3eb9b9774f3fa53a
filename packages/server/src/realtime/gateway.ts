import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import { createArrivals } from './arrivals.ts'
import type { TransportConfig } from './config.ts'
import { type ConnectionCaps, createConnectionCaps } from './connection-caps.ts'
import { createDelivery, createPositionRelay, type Delivery } from './delivery.ts'
import { createDispatch, isForScript } from './dispatch.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import { createNotices } from './notices.ts'
import type { GameScript, LiveSessions, VerifyPlayer } from './ports.ts'
import { createRegistry, type Registry } from './registry.ts'
import { createRevocation, type Revocation } from './revocation.ts'
import type { MatchRecorder } from './rooms/match-records.port.ts'
import type { RoomCommands } from './rooms/room-commands.port.ts'
import { createRpc } from './rpc.ts'
import type { QueueLedger } from './send-queue/send-queue.ts'
import { createTurnBatch } from './send-queue/turn-batch.ts'
import { closings } from './session/closings.ts'
import { createDeadlineQueue } from './session/deadline-queue.ts'
import { handshakePolicy } from './session/handshake.ts'
import { createReadingPauses } from './session/reading-pauses.ts'
import { Session } from './session/session.ts'
import type { SessionDeps } from './session/session-deps.ts'
import { startSweeper } from './sweeper.ts'
import type { Acceptor, Connection, ConnectionEvents } from './transports/transport.ts'

export type GatewayDeps = {
  /** The `transport` section of the configuration. */
  config: TransportConfig
  clock: Clock
  log: Log
  script: GameScript
  verifyPlayer: VerifyPlayer
  liveSessions: LiveSessions
  /** Keeps the durable records of matches; `noMatchRecords` for a database in memory. */
  records: MatchRecorder
  /** 0 on a node without cluster, 0..4095 otherwise; part of every participant id. */
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
    /** Accepts nothing more, closes every connection with 1001 and resolves when all are gone. */
    close(): Promise<void>
  }

const drainMs = 1000
const partingMs = 2000
const shutdownMs = 10_000

export function createGateway(deps: GatewayDeps): Gateway {
  const metrics = createGatewayMetrics()
  const ledger = { queuedBytes: 0, highWaterBytes: 0 }
  const registry = createRegistry(deps.nodeSlot, metrics)
  const caps = createConnectionCaps(deps.config.limits, metrics)
  const log = deps.log.component('realtime')
  const revocation = createRevocation({ ...deps, registry, log })
  const connected = new Set<Session>()
  const sweeper = startSweeper({ clock: deps.clock, metrics, ledger, connected })
  let allGone: (() => void) | undefined
  let closing: Promise<void> | undefined

  const sessionDeps = createSessionDeps({
    ...deps,
    metrics,
    ledger,
    registry,
    caps,
    revocation,
    connected,
    onGone: () => {
      if (connected.size === 0) allGone?.()
    },
  })

  async function close(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      allGone = resolve
    })
    for (const session of connected) session.end(closings.shutdown)
    if (connected.size === 0) allGone?.()
    const limit = deps.clock.after(shutdownMs, () => {
      for (const session of connected) session.destroy()
    })
    await gone
    limit.cancel()
    sweeper.cancel()
  }

  return {
    ...createDelivery(registry),
    ...noRooms,
    closeSessions: revocation.closeSessions,
    revalidate: revocation.revalidate,
    metrics: () => ({ ...metrics }),
    refuses: caps.refuses,
    accept(connection: Connection): ConnectionEvents {
      caps.opened(connection.limitGroup)
      const session = new Session(connection, sessionDeps)
      connected.add(session)
      // An upgrade that was in progress when the shutdown began ends like everybody else.
      if (closing !== undefined) session.end(closings.shutdown)
      return session
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** What is answered as long as there are no rooms. */
const noRooms: RoomCommands = {
  rooms: () => [],
  room: () => undefined,
  members: () => [],
  updateRoom() {},
  removeMember() {},
  setMatchResult() {},
  tickRooms: () => [],
  closeBoundRooms() {},
  joinTopic() {},
  leaveTopic() {},
}

type Parts = GatewayDeps & {
  metrics: GatewayMetrics
  ledger: QueueLedger
  registry: Registry
  caps: ConnectionCaps
  revocation: Revocation
  connected: Set<Session>
  onGone(): void
}

function createSessionDeps(parts: Parts): SessionDeps {
  const { config, clock, script, metrics, registry, caps, connected } = parts
  const { heartbeat_interval_ms, heartbeat_timeout_ms } = config.websocket
  const pauses = createReadingPauses(clock, script)
  const flushes = createTurnBatch<Session>((session) => session.flush())
  const deadline = (delayMs: number, onDue: (session: Session) => void) =>
    createDeadlineQueue({ clock, delayMs }, onDue)
  return {
    ...parts,
    limits: config.limits,
    policy: handshakePolicy(config.auth),
    liveness: { intervalMs: heartbeat_interval_ms, timeoutMs: heartbeat_timeout_ms },
    greetings: deadline(config.auth.handshake_timeout_ms, (session) => session.timeOut()),
    drains: deadline(drainMs, (session) => session.part()),
    partings: deadline(partingMs, (session) => session.destroy()),
    arrivals: createArrivals({ registry, script, recheck: parts.revocation.recheck }),
    dispatch: createDispatch({
      metrics,
      script,
      notices: createNotices(clock),
      maxEnvelopeBytes: config.limits.max_envelope_bytes,
      rpc: createRpc({ script, inFlightMax: config.limits.rpc_in_flight }),
      relayPosition: createPositionRelay(registry),
    }),
    mustWait: (envelope) => script.congested() && isForScript(script, envelope.kind),
    flushLater: flushes.add,
    relieve: () => relieve(parts, flushes.runNow),
    awaitScript: pauses.awaitScript,
    awaitRate: pauses.awaitRate,
    decided: caps.decided,
    gone(session) {
      connected.delete(session)
      pauses.forget(session)
      caps.closed(session.limitGroup)
      parts.onGone()
    },
  }
}

/** Gives memory back by closing the connections that hold most of it. */
function relieve({ config, ledger, connected }: Parts, flushNow: () => void): void {
  const { max_queued_bytes_total } = config.limits
  if (ledger.queuedBytes <= max_queued_bytes_total) return
  flushNow()
  while (ledger.queuedBytes > max_queued_bytes_total) {
    let largest: Session | undefined
    for (const session of connected) {
      if (session.queuedBytes > (largest?.queuedBytes ?? 0)) largest = session
    }
    if (largest === undefined) return
    largest.endAsSlow()
  }
}
