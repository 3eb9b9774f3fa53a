import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import { createDeadlineQueue } from '../../kernel/time/deadline-queue.ts'
import type { TransportConfig } from '../config.ts'
import { countingIds } from '../counting-ids.ts'
import type { QueueHolder, QueueTotals } from '../frames/queue-totals.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { PlayPort } from '../play.port.ts'
import type { VerifyPlayer } from '../ports.ts'
import { closings } from './closing/closings.ts'
import { createLastCloses } from './closing/last-closes.ts'
import { type ConnectionCaps, createConnectionCaps } from './connection-caps.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { createDispatch, isForScript } from './dispatch/dispatch.ts'
import { createNotices } from './dispatch/notices.ts'
import { createServerTime } from './dispatch/server-time.ts'
import { handshakePolicy } from './greeting/handshake.ts'
import { createReadingPauses } from './inbound/reading-pauses.ts'
import { createScriptTurns } from './inbound/script-turns.ts'
import { TurnShares } from './inbound/turn-shares.ts'
import { PlayerConnection } from './player-connection.ts'
import type { RecordingClients } from './recording/recording-clients.ts'
import { createRpc } from './rpc/rpc.ts'
import { createTurnBatch } from './send-queue/turn-batch.ts'
import type { Sessions } from './sessions.ts'
import { startSweeper } from './sweeper.ts'
import type { TimedConnection } from './timed-connection.ts'
import type { Acceptor } from './transports/transport.ts'

export type EdgeDeps = {
  /** The `transport` section of the configuration. */
  config: TransportConfig
  /** How long a seat is kept; 0 keeps none. */
  graceMs: number
  /** When clients are offered the time of the server: when they ask, or with every handshake. */
  serverTimeOffer: 'on_request' | 'always'
  clock: Clock
  ids: Pick<Ids, 'bytes'>
  metrics: GatewayMetrics
  totals: QueueTotals
  /** Too much is queued over all connections and seats. */
  relieve(): void
  /** Empty; the edge alone fills it. */
  sessions: Sessions
  /** Empty; the edge alone fills it. */
  recording: RecordingClients
  verifyPlayer: VerifyPlayer
  /** Asks again soon whether a session is live. */
  recheck(sessionId: string): void
  /** The owner of what its players play in. */
  play: PlayPort
  /** 0 on a node without cluster, 1..4095 otherwise; part of every participant id. */
  nodeSlot(): number
}

/** The edge: the connections of a node. */
export type Edge = Acceptor & {
  /** Closes the connections of these sessions with 4004. */
  closeSessions(sessionIds: readonly string[]): void
  /** Hands transports what is queued, before the end of the turn. */
  flush(): void
  /** The connection that has most bytes queued. */
  largest(): QueueHolder | undefined
  /** Closes every connection with 1001. */
  endAll(): void
  /** Accepts nothing more, closes every connection with 1001 and resolves when all are gone. */
  close(): Promise<void>
}

const drainMs = 1000
const partingMs = 2000
const shutdownMs = 10_000

export function createEdge(deps: EdgeDeps): Edge {
  const { clock, config, metrics, totals, sessions } = deps
  const caps = createConnectionCaps(config.limits, metrics)
  const connected = new Set<TimedConnection>()
  const flushes = createTurnBatch((connection: TimedConnection) => connection.flush())
  const sweeper = startSweeper({ clock, metrics, totals, connected })
  let allGone: (() => void) | undefined
  let closing: Promise<void> | undefined
  const connectionDeps = createConnectionDeps({
    ...deps,
    caps,
    flushLater: flushes.add,
    gone(connection) {
      connected.delete(connection)
      if (connected.size === 0) allGone?.()
    },
  })

  function endAll(): void {
    for (const connection of connected) connection.end(closings.shutdown)
  }

  async function close(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      allGone = resolve
    })
    endAll()
    if (connected.size === 0) allGone?.()
    const limit: Timer = clock.after(shutdownMs, () => {
      for (const connection of connected) connection.destroy()
    })
    await gone
    limit.cancel()
    sweeper.cancel()
  }

  return {
    refuses: caps.refuses,
    accept(connection) {
      caps.opened(connection.limitGroup)
      const accepted = new PlayerConnection(connection, connectionDeps)
      connected.add(accepted)
      // An upgrade that was in progress when the shutdown began ends like everybody else.
      if (closing !== undefined) accepted.end(closings.shutdown)
      return accepted
    },
    closeSessions(sessionIds) {
      for (const id of sessionIds) sessions.byId(id)?.end(closings.sessionRevoked)
    },
    flush: flushes.runNow,
    largest() {
      let largest: TimedConnection | undefined
      for (const connection of connected) {
        if (connection.queuedBytes > (largest?.queuedBytes ?? 0)) largest = connection
      }
      if (largest === undefined) return undefined
      return { bytes: largest.queuedBytes, end: () => largest.endAsSlow() }
    },
    endAll,
    close() {
      closing ??= close()
      return closing
    },
  }
}

/** What the script of another node handles is not known here. */
const anyKind = { handlesKind: () => true }

type Parts = EdgeDeps & {
  caps: ConnectionCaps
  flushLater(connection: TimedConnection): void
  gone(connection: TimedConnection): void
}

function createConnectionDeps(parts: Parts): ConnectionDeps {
  const { config, clock, metrics, play, caps, ids } = parts
  const { heartbeat_interval_ms, heartbeat_timeout_ms } = config.websocket
  const pauses = createReadingPauses(clock)
  const scriptTurns = createScriptTurns(play.script)
  const notices = createNotices(clock)
  const serverTime = createServerTime({
    ...{ clock, metrics, notices, recording: parts.recording, randomness: ids.bytes },
    offersAlways: parts.serverTimeOffer === 'always',
  })
  const rpc = createRpc({ play, inFlightMax: config.limits.rpc_in_flight })
  const deadline = (delayMs: number, onDue: (connection: TimedConnection) => void) =>
    createDeadlineQueue({ clock, delayMs }, onDue)
  return {
    ...parts,
    ...{ notices, serverTime, rpc, scriptTurns },
    limits: config.limits,
    policy: handshakePolicy(config.auth),
    liveness: { intervalMs: heartbeat_interval_ms, timeoutMs: heartbeat_timeout_ms },
    nextParticipantId: countingIds(parts.nodeSlot),
    lastCloses: createLastCloses(clock, config.limits.max_connections),
    greetings: deadline(config.auth.handshake_timeout_ms, (connection) => connection.timeOut()),
    drains: deadline(drainMs, (connection) => connection.part()),
    partings: deadline(partingMs, (connection) => connection.destroy()),
    dispatch: createDispatch({
      ...{ metrics, play, notices, serverTime, rpc: rpc.request },
      maxEnvelopeBytes: config.limits.max_envelope_bytes,
    }),
    heldForScript: { bytes: 0 },
    turnShares: new TurnShares(),
    isForScript: (envelope, place) =>
      isForScript(place.elsewhere === true ? anyKind : play.script, envelope, place),
    awaitRate: pauses.awaitRate,
    decided: caps.decided,
    gone(connection) {
      pauses.forget(connection)
      scriptTurns.forget(connection)
      caps.closed(connection.limitGroup)
      parts.gone(connection)
    },
  }
}
