import type { ScriptActivation } from '@guildhall/contract'
import type { LoadedConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { createLeases } from '../database/jobs/leases.ts'
import {
  claimNode,
  claimRenewMs,
  type NodeClaim,
  NodeIdInUse,
} from '../database/jobs/node-claim.ts'
import type { Feature } from '../features/feature.ts'
import type { Clock } from '../kernel/clock.ts'
import { addressRefused } from '../kernel/errors/address-refused.ts'
import { type ErrorJournal, openErrorJournal } from '../kernel/errors/error-journal.ts'
import { createSourceAddress } from '../kernel/http/request/source-address.ts'
import type { HttpServer } from '../kernel/http/server.ts'
import { createIds } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import { createTopic } from '../kernel/play/topic.ts'
import { createPruneCounts } from '../kernel/tasks/retention.ts'
import { createSupervisor } from '../kernel/tasks/supervisor.ts'
import { watchEventLoopLag } from '../kernel/time/event-loop-lag.ts'
import { type ConnectedPlayers, createConnectedPlayers } from '../realtime/connected-players.ts'
import type { Transports } from '../realtime/connection/transports/transports.ts'
import type { EarlyProcess } from '../script/process/engine-process.ts'
import { type Certificate, openCertificate, reloadAll } from './certificates.ts'
import { openClockWatch } from './clocks.ts'
import { awaitLastRoom } from './cluster/drain.ts'
import { openCluster } from './cluster/open-cluster.ts'
import { createDiskWatch } from './database/disk.ts'
import { openStore } from './database/store.ts'
import { createFeatures } from './features/features.ts'
import {
  afterClaim,
  catchUp,
  countersOf,
  type FeatureList,
  joinRoutes,
  joinScript,
  prunersOf,
  queuesOf,
} from './features/joined.ts'
import { createPlayFeatures } from './features/play-features.ts'
import type { Shared } from './features/shared.ts'
import { createHealthOf } from './health.ts'
import { createListener } from './http/listener.ts'
import { createPipelineDeps } from './http/pipeline.ts'
import { journalDirectory } from './journal-directory.ts'
import { createInstruments } from './metrics/instruments.ts'
import { openMetrics } from './metrics/open-metrics.ts'
import { createPlay } from './play/play.ts'
import { Shutdown } from './shutdown.ts'
import { createStatus } from './status.ts'
import { startTasks } from './tasks.ts'

export type StartOptions = {
  loaded: LoadedConfig
  clock: Clock
  /** When `clock` is moved by hand: the real one, by which the script's process is watched. */
  processClock?: Clock
  log: Log
  bootId: string
  version: string
  /** The process's variables, of which the game's script sees those that are not the node's own. */
  environment: NodeJS.ProcessEnv
  /** A process of the script, started before the node; whoever started it ends it. */
  early?: EarlyProcess | undefined
  /** Ends a start that is not wanted any more; `startNode` then throws `StartCancelled`. */
  signal: AbortSignal
  /** Lines of the log that were lost so far. */
  logLinesDropped?: () => number
  /** Of transports without any of files, where several processes must have the same. */
  development?: Certificate | undefined
}

/** Thrown by a start that was asked to end before the node was ready. */
export class StartCancelled extends Error {
  override readonly name = 'StartCancelled'
}

export type RunningNode = {
  /** Where it listens, e.g. `http://127.0.0.1:7350`, with the real port. */
  url: string
  backend: string
  /** Where transports with sockets of their own listen, by name; `off` for those that do not. */
  transportAddresses: Readonly<Record<string, string>>
  /** The script that serves, e.g. `./game/main.ts`; null without one. */
  entrypoint: string | null
  journal: ErrorJournal
  /** Whether the script has nothing to do until something new comes. */
  isScriptQuiet(): boolean
  /** Loads the script anew, as its files are now; resolves to what came of it. */
  reloadScript(): Promise<ScriptActivation>
  /**
   * Where the script spends its CPU in so many milliseconds, as the text of a .cpuprofile. Rejects
   * when no script serves, or its engine cannot say.
   */
  profileScript(durationMs: number): Promise<string>
  /** Looks at once whether the files of certificates have new content. */
  reloadCertificates(): Promise<void>
  /**
   * Takes nothing new and waits for the rooms here to end, at most for `cluster.drain_ms` and until
   * `signal` aborts. Without a cluster it waits for nothing.
   */
  drain(signal: AbortSignal): Promise<void>
  /**
   * Drains and closes everything in order, at the latest after `deadlineMs`. False when something
   * had to be abandoned.
   */
  stop(limits: StopLimits): Promise<boolean>
}

export type StopLimits = {
  /** The longest that the whole shutdown may take. */
  deadlineMs: number
  /** How long the node goes on serving, while it says that it is not ready. */
  drainDelayMs: number
}

/**
 * The composition root: opens the database, builds every part of the node, hands each what it needs
 * of the others, and listens. A start that fails or is cancelled closes what it had opened.
 */
export async function startNode(options: StartOptions): Promise<RunningNode> {
  const shutdown = new Shutdown(options.clock, options.log)
  try {
    return await Promise.race([start(options, shutdown), cancelled(options.signal)])
  } catch (error) {
    await shutdown.run(options.loaded.config.shutdown.deadline_ms)
    throw error
  }
}

/** Rejects when the start is cancelled: it is not waited for what the start is waiting for. */
function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const cancel = () => reject(new StartCancelled('the start was cancelled'))
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
  })
}

async function start(options: StartOptions, shutdown: Shutdown): Promise<RunningNode> {
  const { signal } = options
  const base = await openBase(options, shutdown)
  signal.throwIfAborted()
  const parts = await build(options, base, shutdown)
  signal.throwIfAborted()
  await catchUp(parts.features, signal)
  signal.throwIfAborted()
  return listen(parts, shutdown)
}

/** Opens what everything else stands on: the database, the error journal, the claim on the id. */
async function openBase(options: StartOptions, shutdown: Shutdown) {
  const { loaded, clock, log, bootId, version } = options
  const { config } = loaded
  const nodeId = config.server.node_id
  const ids = createIds({ clock, nodeId, bootId })

  const opened = await openStore({ config, clock, ids, log, version, bootId })
  // Behind the database: one that cannot be opened says why, and its folder may not be there.
  const directory = await journalDirectory(config)
  const journal = await openErrorJournal({ clock, log, bounds: config.errors, directory })
  shutdown.onStop('error journal', () => journal.close())
  const { secrets, databaseErrors } = opened
  const instruments = config.metrics.enabled ? createInstruments(clock) : undefined
  const db = instruments?.observeDatabase(opened.db) ?? opened.db
  shutdown.onStop('database', () => db.close())
  const clockWatch = await openClockWatch({ db, clock, log })
  const claim = await claimNode({ db, clock, log, nodeId, bootId })
  shutdown.onStop('node claim', () => claim.release())
  const observe = instruments?.observePass
  const supervisor = createSupervisor({ clock, log, journal, observe })
  shutdown.onStop('first tasks', () => supervisor.stop(tasksStopMs))
  // From here on, as the script may take longer to load than the claim lives.
  const nodeClaim = db.durable
    ? supervisor.every('node-claim', claimRenewMs, () => claim.renew())
    : undefined
  const leases = createLeases({
    db,
    clock,
    log: log.component('leases'),
    holder: bootId,
    lifeMs: config.scheduler.lease_ttl_ms,
  })
  shutdown.onStop('leases', leases.release)
  const players = createConnectedPlayers()
  const cluster = await openCluster({
    ...{ config, db, clock, log, ids, bootId, version },
    load: () => loadOf(players),
  })
  if (cluster !== undefined) shutdown.onStop('cluster', cluster.stop)
  const shared = { db, clock, clockWatch, ids, log, config, version, bootId, leases }
  const counted = { databaseErrors, logLinesDropped: options.logLinesDropped }
  const taken = { claim, nodeClaim, cluster, development: options.development }
  return { journal, ...taken, supervisor, secrets, counted, instruments, players, shared }
}

function loadOf({ metrics }: ConnectedPlayers) {
  return { rooms: metrics.rooms_active, connections: metrics.connections_active }
}

type Base = Awaited<ReturnType<typeof openBase>>

/** Builds the features, the script's host and the gateway, and what stands on all of them. */
async function build(options: StartOptions, base: Base, shutdown: Shutdown) {
  const { loaded, environment } = options
  const { shared, secrets, supervisor, instruments } = base
  const { clock, config } = shared
  const revoked = createTopic<readonly string[]>()
  const { players, cluster } = base
  const stored = createFeatures({
    ...shared,
    secrets,
    settingSources: loaded.sources,
    onRevoked: revoked.publish,
    observeHash: instruments?.observeHash,
    players: players.live,
    recording: players.recording.players,
    ...{ journal: base.journal, isBootGone: cluster?.isBootGone },
  })

  const sourceOf = createSourceAddress(config.http.trusted_proxies)
  const play = createPlay({
    ...shared,
    loaded,
    ...{ journal: base.journal, environment },
    ...{ early: options.early, processClock: options.processClock },
    observeCall: instruments?.observeCall,
    script: joinScript(stored),
    durable: shared.db.durable,
    setIndexFilter: stored.storage.runtime.setFilter,
    serveSchedules: stored.schedules.serve,
    verifyPlayer: async (token) => stored.sessions.verifyAccess(token),
    liveSessions: stored.sessions.liveOf,
    sourceOf,
    players,
    cluster,
    mayMakeRooms: base.claim.ok,
    observeWait: instruments?.observeWait,
    records: stored.matchRecords.recorder,
    people: { usernames: stored.accounts.usernames, areBlocked: stored.friends.areBlocked },
  })
  const features = {
    ...stored,
    ...createPlayFeatures(shared, stored, { ...play, journal: base.journal }),
  }
  endWithRows(features, shared, shutdown)
  shutdown.onStop('script', () => play.script.stop())
  for (const [name, { stop }] of Object.entries<Feature>(features)) {
    if (stop !== undefined) shutdown.onStop(name, stop)
  }
  revoked.subscribe(play.gateway.closeSessions)
  await afterClaim(features)
  await play.startScript()

  const lag = watchEventLoopLag(clock, instruments?.observeLag)
  shutdown.onStop('tasks', async () => {
    lag.stop()
    await supervisor.stop(tasksStopMs)
  })
  const pipeline = createPipelineDeps({ ...stored, sourceOf }, config)
  return { ...base, features, play, lag, pipeline }
}

type Parts = Awaited<ReturnType<typeof build>>

/** Registers how the queues end: their last rows are written, then what comes after those. */
function endWithRows(features: FeatureList, { config, log }: Shared, shutdown: Shutdown): void {
  const queues = queuesOf(features)
  for (const [name, { close }] of Object.entries(features)) {
    if (close !== undefined) shutdown.onStop(name, close)
  }
  shutdown.onCountRows(() => {
    const counts = queues.map((queue) => queue.counts())
    return counts.reduce((sum, { queued, abandoned }) => sum + queued + abandoned, 0)
  })
  shutdown.onStop('write-behind queues', async () => {
    const drainMs = config.logs.shutdown_drain_timeout_ms
    const lost = await Promise.all(queues.map((queue) => queue.drain(drainMs)))
    const rows = lost.reduce((sum, count) => sum + count, 0)
    if (rows > 0) log.error('rows were not written before the end', { rows })
  })
}

/** Starts the background tasks and the listeners. */
async function listen(parts: Parts, shutdown: Shutdown) {
  const { shared, journal, claim, features, play, supervisor, counted, instruments } = parts
  const { db, clock, config, version } = shared
  const disk = createDiskWatch(config, shared.log)
  const data = { ...prunersOf(features, 'pruners'), ...prunersOf(features, 'surplus') }
  const pruneCounts = createPruneCounts(Object.keys(data))
  const health = createHealthOf({ ...shared, ...parts, disk })
  const status = createStatus({
    ...shared,
    supervisor,
    scheduler: features.leaderboards.schedules,
    pruneCounts,
    queues: queuesOf(features),
    transports: play.transports.states,
    runtime: play.runtime,
    metrics: () => ({
      ...listener.server.counters(),
      ...countersOf(features),
      ...play.metrics(),
      database_errors_total: counted.databaseErrors(),
      clock_jumps_total: shared.clockWatch.jumps(),
    }),
  })
  const listener = await createListener({
    ...shared,
    journal,
    pipeline: parts.pipeline,
    routes: joinRoutes(features),
    acceptUpgrade: play.transports.acceptUpgrade,
    shell: { node_id: config.server.node_id, version, health, status },
    recordRequest: instruments?.recordRequest,
  })
  const { nodeClaim, development } = parts
  const given = listener.certificate ?? development
  const certificates = await certify(play.transports, given, shared)
  const work = { supervisor, features, pruneCounts, disk, nodeClaim, certificates }
  startTasks({ ...shared, ...work, sample: () => features.history.record(status().metrics) })
  shutdown.onStop('listener', async () => {
    await Promise.all([listener.server.close(requestsGraceMs), play.close()])
  })
  shutdown.onStop('on_unload', play.script.unload)
  expectClaimed(claim, config.server.node_id)
  const bound = await bind(listener.server, config)
  await play.transports.start(bound)
  if (instruments !== undefined) {
    const { logLinesDropped = () => 0 } = counted
    const sources = { ...shared, ...parts, listener, status, instruments, logLinesDropped }
    const metrics = await openMetrics(sources)
    shutdown.onStop('metrics', () => metrics.close(0))
  }
  const scheme = config.http.tls.certificate_file === undefined ? 'http' : 'https'
  return {
    url: `${scheme}://${bound}`,
    backend: db.backend,
    entrypoint: play.script.describe().entrypoint,
    transportAddresses: play.transports.addresses(),
    journal,
    isScriptQuiet: play.script.isQuiet,
    reloadScript: play.script.reload,
    profileScript: play.script.profile,
    reloadCertificates: () => reloadAll(certificates),
    async drain(signal: AbortSignal) {
      if (parts.cluster === undefined || config.cluster.drain_ms === 0) return
      health.drain()
      const rooms = () => parts.players.metrics.rooms_active
      const limits = { clock, drainMs: config.cluster.drain_ms, signal }
      await awaitLastRoom(parts.cluster.membership, rooms, limits)
    },
    stop({ deadlineMs, drainDelayMs }: StopLimits) {
      health.drain()
      shutdown.onStop('drain delay', () => clock.sleep(drainDelayMs))
      return shutdown.run(deadlineMs)
    },
  }
}

/** Gives transports their certificate, or else the given one; answers with all there are. */
async function certify(
  transports: Transports,
  given: Certificate | undefined,
  shared: Shared,
): Promise<Certificate[]> {
  const own = await openCertificate(shared.config.transport.tls, shared)
  const used = own ?? given
  if (used !== undefined) {
    transports.setCertificate(used.current())
    used.onChange(transports.setCertificate)
  }
  return [own, given].filter((certificate) => certificate !== undefined)
}

/** What was claimed first may have gone to another process meanwhile. */
function expectClaimed(claim: NodeClaim, nodeId: string): void {
  if (claim.ok()) return
  throw new NodeIdInUse(`node_id ${nodeId} was taken over by another process during the start`)
}

/** Running requests may take this long to finish once the listener closes, in milliseconds. */
const requestsGraceMs = 10_000
/** Longest wait for background tasks to notice the end, in milliseconds. */
const tasksStopMs = 5000

/** Answers with the address that it has got. */
async function bind({ listen }: HttpServer, { http, server }: Config): Promise<string> {
  const listening = listen(...hostAndPort(http.bind), server.processes > 1)
  const { host, port } = await listening.catch(addressRefused('http.bind'))
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function hostAndPort(address: string): [string, number] {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))]
}
