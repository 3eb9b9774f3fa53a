import type { LoadedConfig } from '../config/load.ts'
import {
  claimNode,
  claimRenewMs,
  type NodeClaim,
  NodeIdInUse,
} from '../database/jobs/node-claim.ts'
import type { Clock } from '../kernel/clock.ts'
import { type ErrorJournal, openErrorJournal } from '../kernel/errors/error-journal.ts'
import { createSourceAddress } from '../kernel/http/source-address.ts'
import { createIds } from '../kernel/ids.ts'
import type { Log } from '../kernel/log/log.ts'
import { createPruneCounts } from '../kernel/tasks/retention.ts'
import { createSupervisor } from '../kernel/tasks/supervisor.ts'
import { watchEventLoopLag } from '../kernel/time/event-loop-lag.ts'
import { openClockWatch } from './clocks.ts'
import { createDiskWatch } from './disk.ts'
import { createElected } from './elected.ts'
import { createFeatures } from './features.ts'
import { createHealthOf } from './health.ts'
import { journalDirectory } from './journal-directory.ts'
import { createListener } from './listener.ts'
import { createPlay } from './play.ts'
import { createRevocations } from './revocations.ts'
import { createScheduler } from './scheduler.ts'
import { Shutdown } from './shutdown.ts'
import { createStatus } from './status.ts'
import { openStore } from './store.ts'
import { startTasks } from './tasks.ts'

export type StartOptions = {
  loaded: LoadedConfig
  clock: Clock
  log: Log
  bootId: string
  version: string
  /** The process's variables, of which the game's script sees those that are not the node's own. */
  environment: NodeJS.ProcessEnv
  /** Ends a start that is not wanted any more; `startNode` then throws `StartCancelled`. */
  signal: AbortSignal
}

/** Thrown by a start that was told to end before the node was ready. */
export class StartCancelled extends Error {
  override readonly name = 'StartCancelled'
}

export type RunningNode = {
  /** Where it listens, e.g. `http://127.0.0.1:7350`, with the real port. */
  url: string
  backend: string
  journal: ErrorJournal
  /** Looks at once whether the certificate's files have new content. */
  reloadCertificate(): Promise<void>
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
  await catchUp(parts, signal)
  signal.throwIfAborted()
  return listen(parts, shutdown)
}

/** Does what fell due while no node was there, before anybody is let in. */
async function catchUp({ scheduler, settlement }: Parts, signal: AbortSignal): Promise<void> {
  await scheduler.catchUp(signal)
  await settlement?.settle({ signal, progress: () => undefined })
}

/** Opens what everything else stands on: the error journal, the database, the claim on the id. */
async function openBase(options: StartOptions, shutdown: Shutdown) {
  const { loaded, clock, log, bootId, version } = options
  const { config } = loaded
  const nodeId = config.server.node_id
  const ids = createIds({ clock, nodeId, bootId })

  const directory = await journalDirectory(config)
  const journal = await openErrorJournal({ clock, log, bounds: config.errors, directory })
  shutdown.onStop('error journal', () => journal.close())

  const opened = await openStore({ config, clock, ids, log, version, bootId })
  const { db, secrets, databaseErrors } = opened
  shutdown.onStop('database', () => db.close())
  const clockWatch = await openClockWatch({ db, clock, log })
  const claim = await claimNode({ db, clock, log, nodeId, bootId })
  shutdown.onStop('node claim', () => claim.release())
  const supervisor = createSupervisor({ clock, log, journal })
  shutdown.onStop('first tasks', () => supervisor.stop(tasksStopMs))
  // From here on, as the script may take longer to load than the claim lives.
  const nodeClaim = db.durable
    ? supervisor.every('node-claim', claimRenewMs, () => claim.renew())
    : undefined
  const shared = { db, clock, clockWatch, ids, log, config, version }
  return { journal, claim, nodeClaim, supervisor, secrets, databaseErrors, shared }
}

type Base = Awaited<ReturnType<typeof openBase>>

/** Builds the features, the gateway and the script's host, and wires them to each other. */
async function build(options: StartOptions, base: Base, shutdown: Shutdown) {
  const { loaded, environment, bootId } = options
  const { shared, secrets, supervisor } = base
  const { clock, log, config } = shared
  const elected = createElected(shared, bootId, shutdown)
  const onRevoked = (sessionIds: readonly string[]) => play.gateway.closeSessions(sessionIds)
  const features = createFeatures({ ...shared, secrets, onRevoked })
  shutdown.onCountRows(() => {
    const counts = features.queues.map((queue) => queue.counts())
    return counts.reduce((sum, { queued, abandoned }) => sum + queued + abandoned, 0)
  })
  shutdown.onStop('write-behind queues', async () => {
    await features.hashing.stop()
    const drainMs = config.logs.shutdown_drain_timeout_ms
    const lost = await Promise.all(features.queues.map((queue) => queue.drain(drainMs)))
    const rows = lost.reduce((sum, count) => sum + count, 0)
    if (rows > 0) log.error('rows were not written before the end', { rows })
  })
  shutdown.onStop('key-use times', features.flushKeyUse)

  const play = createPlay({
    ...shared,
    loaded,
    environment,
    scriptFunctions: features.scriptFunctions,
    verifyPlayer: async (token) => features.sessions.verifyAccess(token),
    liveSessions: features.sessions.liveOf,
    sourceOf: createSourceAddress(config.http.trusted_proxies),
  })
  shutdown.onStop('script', () => play.script.stop())
  await play.startScript()

  const { tournaments } = features
  const settlement = config.scheduler.enabled
    ? tournaments.settlementOf(elected.leases.of('settlement'))
    : undefined
  const scheduler = createScheduler({ ...shared, leases: elected.leases, resets: features.resets })
  const courier = tournaments.courierOf(play.script.events)
  const lag = watchEventLoopLag(clock)
  shutdown.onStop('tasks', async () => {
    lag.stop()
    await supervisor.stop(tasksStopMs)
    await courier.stop(tasksStopMs)
  })
  return { ...base, ...elected, features, play, scheduler, settlement, courier, lag }
}

type Parts = Awaited<ReturnType<typeof build>>

/** What is counted by neither the listener, nor a feature, nor play. */
function ownCounters({ databaseErrors, courier, shared }: Parts) {
  const { delivered, failed } = courier.counts()
  return {
    database_errors_total: databaseErrors(),
    outbox_delivered_total: delivered,
    outbox_failed_total: failed,
    clock_jumps_total: shared.clockWatch.jumps(),
  }
}

/** Starts the background tasks and opens the door. */
async function listen(parts: Parts, shutdown: Shutdown) {
  const { shared, journal, claim, features, play, scheduler, supervisor } = parts
  const { db, clock, config, version } = shared
  const disk = createDiskWatch(config, shared.log)
  const pruneCounts = createPruneCounts(Object.keys(features.pruners))
  const health = createHealthOf({ ...shared, ...parts, disk })
  const status = createStatus({
    ...shared,
    supervisor,
    scheduler: scheduler.status,
    pruneCounts,
    queues: features.queues,
    httpAddress: () => bound,
    runtime: play.runtime,
    metrics: () => ({
      ...listener.server.counters(),
      ...features.counters(),
      ...play.metrics(),
      ...ownCounters(parts),
    }),
  })
  const listener = await createListener({
    ...shared,
    journal,
    features,
    acceptUpgrade: play.acceptUpgrade,
    shell: { node_id: config.server.node_id, version, health, status },
  })
  startTasks({
    ...shared,
    supervisor,
    leases: parts.leases,
    sealer: parts.sealer,
    scheduler,
    storageIndexes: features.storage.indexes,
    settlement: parts.settlement,
    courier: parts.courier,
    pruners: features.pruners,
    pruneCounts,
    disk,
    queues: features.queues,
    flushKeyUse: features.flushKeyUse,
    countAccounts: features.countAccounts,
    readRevocations: createRevocations({ db, clock, gateway: play.gateway }),
    nodeClaim: parts.nodeClaim,
    reloadCertificate: listener.reloadCertificate,
  })
  shutdown.onStop('listener', async () => {
    await Promise.all([listener.server.close(requestsGraceMs), play.gateway.close()])
  })
  expectClaimed(claim, config.server.node_id)
  const { host, port } = await listener.server.listen(...hostAndPort(config.http.bind))
  const bound = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const scheme = config.http.tls.certificate_file === undefined ? 'http' : 'https'
  return {
    url: `${scheme}://${bound}`,
    backend: db.backend,
    journal,
    reloadCertificate: async () => listener.reloadCertificate?.(),
    stop({ deadlineMs, drainDelayMs }: StopLimits) {
      health.drain()
      shutdown.onStop('drain delay', () => clock.sleep(drainDelayMs))
      return shutdown.run(deadlineMs)
    },
  }
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

function hostAndPort(address: string): [string, number] {
  const colon = address.lastIndexOf(':')
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))]
}
