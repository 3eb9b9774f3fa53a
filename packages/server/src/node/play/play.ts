import type { IncomingMessage } from 'node:http'
import type { LoadedConfig } from '../../config/load.ts'
import { parseAddress } from '../../config/values/address.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { MatchRecorder } from '../../kernel/play/match-recorder.ts'
import type { IndexFilterPort, SchedulesPort, ServedScript } from '../../kernel/play/script.ts'
import type { ConnectedPlayers } from '../../realtime/connected-players.ts'
import { createQuicTransports } from '../../realtime/connection/transports/quic/quic.ts'
import { joinTransports } from '../../realtime/connection/transports/transports.ts'
import { createWebSocketTransport } from '../../realtime/connection/transports/websocket.ts'
import { createGateway, type Gateway } from '../../realtime/gateway.ts'
import type { People } from '../../realtime/play/parties/people.port.ts'
import type { LiveSessions, VerifyPlayer } from '../../realtime/ports.ts'
import { createScriptHost } from '../../script/host.ts'
import type { EarlyProcess } from '../../script/process/engine-process.ts'
import type { Cluster } from '../cluster/open-cluster.ts'
import { createOtherNodes } from '../cluster/other-nodes.ts'
import { type FeatureScript, gatewayFunctions } from './play-functions.ts'

export type PlayDeps = {
  loaded: LoadedConfig
  clock: Clock
  /** See `StartOptions`. */
  processClock: Clock | undefined
  observeCall: ((hook: string, durationMs: number) => void) | undefined
  ids: Ids
  bootId: string
  version: string
  log: Log
  journal: ErrorJournal
  environment: NodeJS.ProcessEnv
  /** See `StartOptions`. */
  early: EarlyProcess | undefined
  /** What scripts ask of the features. */
  script: FeatureScript
  players: ConnectedPlayers
  verifyPlayer: VerifyPlayer
  liveSessions: LiveSessions
  sourceOf(request: IncomingMessage): string
  records: MatchRecorder
  /** Whether the database keeps lines and results of matches. */
  durable: boolean
  setIndexFilter: IndexFilterPort
  serveSchedules: SchedulesPort
  people: People
  /** A ticket of the matchmaker has been matched after so long; undefined without metrics. */
  observeWait: ((waitedMs: number) => void) | undefined
  /** False while the node has lost its node id. */
  mayMakeRooms(): boolean
  /** What joins it with the other nodes; undefined where it plays with itself. */
  cluster: Cluster | undefined
}

export type Play = ReturnType<typeof createPlay>

/**
 * The game's script and the gateway that its players connect to. The gateway is built with the
 * script's host, and the host reaches the gateway from the start of the script on.
 */
export function createPlay(deps: PlayDeps) {
  const { loaded, clock, log } = deps
  const { config } = loaded
  const script = createScript(deps)
  const gateway = createGateway({
    config: config.transport,
    clock,
    log,
    online: deps.players,
    script: script.game,
    rooms: config.rooms,
    matchmaker: config.matchmaker,
    party: config.party,
    people: deps.people,
    serverTimeOffer: config.lag_diagnostics.server_time_offer,
    ids: deps.ids,
    records: deps.records,
    mayMakeRooms: deps.mayMakeRooms,
    observeWait: deps.observeWait,
    verifyPlayer: deps.verifyPlayer,
    liveSessions: deps.liveSessions,
    nodeSlot: () => deps.cluster?.membership.slot ?? 0,
    cluster: deps.cluster,
  })
  joinCluster(gateway, deps.cluster)
  const transports = joinTransports([
    createWebSocketTransport({
      config: config.transport,
      gateway,
      sourceOf: deps.sourceOf,
      newRequestId: deps.ids.requestId,
    }),
    ...createQuicTransports({ ...deps, config: config.transport, gateway, ...quicBind(loaded) }),
  ])
  return {
    script,
    gateway,
    nodes: createOtherNodes({ ...deps, gateway, self: () => selfOf(deps) }),
    transports,
    async startScript(): Promise<void> {
      const functions = {
        ...deps.script,
        ...gatewayFunctions(gateway, deps.clock),
      } satisfies ServedScript
      await script.start({ delivery: gateway, functions, rooms: gateway, states: gateway.states })
      if (config.runtime.enabled && !script.describe().attached) logMissingScript(loaded, log)
    },
    attached: transports.attached,
    scriptState: () => script.describe().readiness.state,
    /** The part of the runtime's view that `/status` shows to everybody. */
    runtime() {
      const view = script.describe()
      const { enabled, configured_language, selected_language, selection_source } = view
      const { adapter, tier, readiness } = view
      return {
        enabled,
        configured_language,
        selected_language,
        selection_source,
        adapter,
        tier,
        readiness: readiness.state,
      }
    },
    metrics: () => ({
      ...gateway.metrics(),
      ...deps.cluster?.metrics(),
      ...(gateway.relay && { bus_invalid_total: gateway.relay.invalid }),
      ...transports.metrics(),
      ...script.metrics(),
    }),
    /** Ends every room and connection, and then what carried them. */
    async close(): Promise<void> {
      await gateway.close()
      await transports.close()
    },
  }
}

/** This node, as operators see it. */
function selfOf({ loaded, bootId, version, players }: PlayDeps) {
  const { rooms_active, connections_active } = players.metrics
  const { node_id } = loaded.config.server
  const load = { rooms: rooms_active, connections: connections_active }
  return { node_id, boot_id: bootId, version, ...load }
}

/** Gives the gateway what comes from the other nodes. */
function joinCluster(gateway: Gateway, cluster: Cluster | undefined): void {
  if (cluster === undefined || gateway.relay === undefined) return
  cluster.messages.subscribe(gateway.relay.received)
  cluster.slotLost.subscribe(gateway.beginAnew)
}

/** Where QUIC listens, with whom, and whether the operator asked for it. */
function quicBind({ config, sources }: LoadedConfig) {
  const bind = parseAddress(config.transport.quic.bind)
  if (bind === undefined) throw new Error('transport.quic.bind was checked when it was loaded')
  const isSet = (key: string) => sources.get(`transport.${key}`)?.layer !== 'default'
  const wantsWebTransport = config.transport.webtransport.enabled && isSet('webtransport.enabled')
  const isExplicit = isSet('quic.enabled') || isSet('quic.bind') || wantsWebTransport
  return { bind, isExplicit, isShared: config.server.processes > 1 }
}

function createScript(deps: PlayDeps) {
  const { loaded, clock, log } = deps
  const { config } = loaded
  return createScriptHost({
    config: config.runtime,
    packagesRoot: deps.loaded.folder,
    inspectAt: parseAddress(config.runtime.inspect ?? ''),
    clock,
    processClock: deps.processClock,
    observeCall: deps.observeCall,
    log: log.component('script'),
    journal: deps.journal,
    nodeId: config.server.node_id,
    stateBytesMax: config.rooms.state_bytes_total,
    environment: deps.environment,
    early: deps.early,
    lines: {
      durable: deps.durable,
      payloadBytesMax: config.logs.match_logs_max_payload_bytes,
      idSalt: deps.ids.salt,
    },
    setIndexFilter: deps.setIndexFilter,
    serveSchedules: deps.serveSchedules,
  })
}

/** Asked for or not: without its script a game's messages go nowhere, and nothing else says so. */
function logMissingScript({ config, sources }: LoadedConfig, log: Log): void {
  const { scripts_dir } = config.runtime
  const isWanted = sources.get('runtime.scripts_dir')?.layer !== 'default'
  const write = isWanted ? log.warn : log.info
  write('there is no script, and the node runs without one', { scripts_dir })
}
