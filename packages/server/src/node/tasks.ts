import type { Config } from '../config/schema.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Leases } from '../database/jobs/leases.ts'
import type { FeatureTask, Queue } from '../features/feature.ts'
import { sampleEveryMs } from '../features/history/samples.ts'
import type { Clock } from '../kernel/clock.ts'
import { type DiskSpace, diskSpaceIntervalMs } from '../kernel/host/disk-space.ts'
import type { Log } from '../kernel/log/log.ts'
import { createRetention, type PruneCounts, type RetentionDeps } from '../kernel/tasks/retention.ts'
import type { Supervisor, TaskHandle } from '../kernel/tasks/supervisor.ts'
import type { ClockWatch } from '../kernel/time/clock-watch.ts'
import { type Certificate, reloadAll } from './certificates.ts'
import { clockCheckMs, createClockCheck } from './clocks.ts'
import { type FeatureList, prunersOf, queuesOf, tasksOf } from './features/joined.ts'

export type TasksDeps = {
  supervisor: Supervisor
  config: Config
  db: Database
  clock: Clock
  clockWatch: ClockWatch
  log: Log
  /** Of the jobs that one node of a deployment does. */
  leases: Leases
  features: FeatureList
  pruneCounts: PruneCounts
  /** Keeps what is counted now for the history of the node. */
  sample(): void
  /** Absent where there is no disk of a database to watch. */
  disk?: DiskSpace | undefined
  /** Renews the claim on the node's id since it was taken; absent where nobody else can want it. */
  nodeClaim?: TaskHandle | undefined
  /** Re-read by their files; empty without TLS. */
  certificates: readonly Pick<Certificate, 'reload'>[]
}

const probeIntervalMs = 1000
const surplusIntervalMs = 2000
/** How long the queues may take for what they held back meanwhile, in milliseconds. */
const recoveryFlushMs = 5000

/** Tasks of the node itself whose lasting failure makes it not ready. */
const ownEssentials = ['write-behind', 'node-claim']

/** All such tasks: those of the node, and those of features. */
export function essentialTasks(features: FeatureList): ReadonlySet<string> {
  const theirs = tasksOf(features).filter(({ essential }) => essential)
  return new Set([...ownEssentials, ...theirs.map(({ name }) => name)])
}

/** Starts the node's background loops: its own, and those of the features. */
export function startTasks(deps: TasksDeps): void {
  const { supervisor, config, db, features, nodeClaim } = deps
  const { onHold } = deps.clockWatch
  const leases = supervisor.every('leases', deps.leases.renewMs, deps.leases.keep)
  const clock = supervisor.every('clock', clockCheckMs, createClockCheck(db, deps.clockWatch))
  const retention = supervisor.every(
    'retention',
    config.retention.interval_sec * 1000,
    prune(deps, 'retention', { pruners: prunersOf(features, 'pruners'), onHold }),
  )
  // Kept to a number of rows instead of a time: what is too much goes within seconds.
  const surplus = prune(deps, 'surplus', { pruners: prunersOf(features, 'surplus') })
  supervisor.every('surplus', surplusIntervalMs, surplus)
  watchDisk(deps, retention)
  supervisor.every('history', sampleEveryMs, async () => deps.sample())
  if (deps.certificates.length > 0) {
    const intervalMs = config.http.tls.reload_interval_ms
    supervisor.every('certificates', intervalMs, () => reloadAll(deps.certificates))
  }
  const waiting = [leases, clock, ...tasksOf(features).flatMap((task) => start(supervisor, task))]
  if (!db.durable) return
  if (nodeClaim !== undefined) waiting.push(nodeClaim)
  watchDatabase(deps, waiting)
}

/** Starts a task of a feature; answers with its handle if it waits for the database. */
function start(supervisor: Supervisor, task: FeatureTask): TaskHandle[] {
  const handle = supervisor.every(task.name, task.intervalMs, task.run, task.items)
  task.started?.(handle)
  return task.needsDatabase ? [handle] : []
}

/** Shows the queues beside the tasks, and starts all that waits for a database that is back. */
function watchDatabase({ supervisor, db, features }: TasksDeps, waiting: TaskHandle[]): void {
  const queues: readonly Queue[] = queuesOf(features)
  supervisor.adopt('write-behind', {
    failingForMs: () => Math.max(0, ...queues.map((queue) => queue.failingForMs())),
    failures: () => queues.reduce((sum, queue) => sum + queue.counts().failures, 0),
  })
  const onRecovered = () => {
    for (const task of waiting) task.retry()
    for (const queue of queues) void queue.flush(recoveryFlushMs)
  }
  supervisor.every('database-probe', probeIntervalMs, createProbe(db, onRecovered))
}

/** Makes the task that removes data on the node that holds the lease of its name. */
function prune(
  deps: TasksDeps,
  name: string,
  what: Pick<RetentionDeps<Transaction>, 'pruners' | 'onHold'>,
) {
  return createRetention({
    ...what,
    lease: deps.leases.of(name),
    batchItems: deps.config.retention.batch_items,
    clock: deps.clock,
    log: deps.log.component(name),
    counts: deps.pruneCounts,
  })
}

/** When the disk is nearly full, what is past its time goes at once. */
function watchDisk({ supervisor, disk }: TasksDeps, retention: TaskHandle): void {
  if (disk === undefined) return
  supervisor.every('disk-space', diskSpaceIntervalMs, async () => {
    if (await disk.check()) retention.wake()
  })
}

/** Looks for signs of life, and calls what waits for the database as soon as it is back. */
function createProbe(db: Database, onRecovered: () => void): () => Promise<void> {
  let wasUp = true
  return async () => {
    const up = await db.probe()
    if (up && !wasUp) onRecovered()
    wasUp = up
  }
}
