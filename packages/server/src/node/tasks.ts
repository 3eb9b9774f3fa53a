import type { Config } from '../config/schema.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Leases } from '../database/jobs/leases.ts'
import { headIntervalMs, type Sealer, sealIntervalMs } from '../features/audit/audit.sealer.ts'
import { type Courier, courierIntervalMs } from '../features/outbox/outbox.courier.ts'
import { type IndexJobs, indexIntervalMs } from '../features/storage/storage.jobs.ts'
import { type Settlement, settlementIntervalMs } from '../features/tournaments/tournaments.jobs.ts'
import type { Clock } from '../kernel/clock.ts'
import { type DiskSpace, diskSpaceIntervalMs } from '../kernel/disk-space.ts'
import type { Log } from '../kernel/log/log.ts'
import {
  createRetention,
  type PruneBatch,
  type PruneCounts,
  type RetentionDeps,
} from '../kernel/tasks/retention.ts'
import type { Supervisor, TaskHandle } from '../kernel/tasks/supervisor.ts'
import type { TaskBody } from '../kernel/tasks/supervisor-task.ts'
import type { ClockWatch } from '../kernel/time/clock-watch.ts'
import { clockCheckMs, createClockCheck } from './clocks.ts'
import type { Scheduler } from './scheduler.ts'

export type TasksDeps = {
  supervisor: Supervisor
  config: Config
  db: Database
  clock: Clock
  clockWatch: ClockWatch
  log: Log
  /** Of the jobs that one node of a deployment does. */
  leases: Leases
  /** Links the audit trail; absent where it is not durable. */
  sealer?: Sealer | undefined
  /** Executes the schedules of boards. */
  scheduler: Pick<Scheduler, 'start'>
  /** Keeps the declared indexes over stored objects. */
  storageIndexes: Pick<IndexJobs, 'keep' | 'wakeBy'>
  /** Ends tournaments; absent on a node that takes no lease of scheduled work. */
  settlement?: Settlement | undefined
  /** Delivers what the outbox holds. */
  courier?: Courier | undefined
  pruners: Readonly<Record<string, PruneBatch<Transaction>>>
  pruneCounts: PruneCounts
  /** Absent where there is no disk of a database to watch. */
  disk: DiskSpace | undefined
  queues: readonly {
    failingForMs(): number
    counts(): { failures: number }
    flush(timeoutMs: number): Promise<boolean>
  }[]
  /** Writes when API keys were last used. */
  flushKeyUse(): Promise<void>
  /** Keeps the number of accounts at hand. */
  countAccounts: TaskBody
  /** Reads what other nodes of the database revoked. */
  readRevocations(): Promise<void>
  /** Renews the claim on the node's id since it was taken; absent where nobody else can want it. */
  nodeClaim?: TaskHandle | undefined
  /** Re-reads the certificate files; absent without TLS. */
  reloadCertificate?: (() => Promise<void>) | undefined
}

const probeIntervalMs = 1000
const revocationsIntervalMs = 500
const keyUseIntervalMs = 5000
const accountCountIntervalMs = 5000
const surplusIntervalMs = 2000
/** How long the queues may take for what they held back meanwhile, in milliseconds. */
const recoveryFlushMs = 5000

/** Tasks whose lasting failure makes the node not ready. */
export const essentialTasks: ReadonlySet<string> = new Set([
  'scheduler',
  'write-behind',
  'revocations',
  'node-claim',
])

/** Starts the node's background loops. */
export function startTasks(deps: TasksDeps): void {
  const { supervisor, config, db } = deps
  const leases = supervisor.every('leases', deps.leases.renewMs, deps.leases.keep)
  const { wallet_ledger, notifications, ...others } = deps.pruners
  const bounded = {
    ...(wallet_ledger && { wallet_ledger }),
    ...(notifications && { notifications }),
  }
  const clock = supervisor.every('clock', clockCheckMs, createClockCheck(db, deps.clockWatch))
  const { onHold } = deps.clockWatch
  const retention = supervisor.every(
    'retention',
    config.retention.interval_sec * 1000,
    prune(deps, 'retention', { pruners: others, onHold }),
  )
  // Kept to a number of rows instead of a time: what is too much goes within seconds.
  supervisor.every('surplus', surplusIntervalMs, prune(deps, 'surplus', { pruners: bounded }))
  watchDisk(deps, retention)
  if (deps.reloadCertificate !== undefined) {
    const intervalMs = config.http.tls.reload_interval_ms
    supervisor.every('certificates', intervalMs, deps.reloadCertificate)
  }
  const keyUse = supervisor.every('key-use', keyUseIntervalMs, deps.flushKeyUse)
  supervisor.every('account-count', accountCountIntervalMs, deps.countAccounts)
  const scheduled = startScheduled(deps)
  if (!db.durable) return
  supervisor.adopt('write-behind', {
    failingForMs: () => Math.max(0, ...deps.queues.map((queue) => queue.failingForMs())),
    failures: () => deps.queues.reduce((sum, queue) => sum + queue.counts().failures, 0),
  })
  const waiting = [leases, clock, keyUse, ...scheduled]
  if (deps.nodeClaim !== undefined) waiting.push(deps.nodeClaim)
  // A file belongs to one node, so only a shared database can tell of others.
  if (db.backend === 'postgres') {
    waiting.push(supervisor.every('revocations', revocationsIntervalMs, deps.readRevocations))
  }
  const { sealer } = deps
  if (sealer !== undefined) {
    waiting.push(
      supervisor.every('audit-sealer', sealIntervalMs, ({ progress }) => sealer.seal(progress)),
    )
    supervisor.every('audit-head', headIntervalMs, sealer.logHead)
  }
  const onRecovered = () => {
    for (const task of waiting) task.retry()
    for (const queue of deps.queues) void queue.flush(recoveryFlushMs)
  }
  supervisor.every('database-probe', probeIntervalMs, createProbe(db, onRecovered))
}

/** Starts what moves the deployment on by itself. */
function startScheduled(deps: TasksDeps): TaskHandle[] {
  const { supervisor, scheduler, storageIndexes, settlement, courier } = deps
  const indexes = supervisor.every('storage-indexes', indexIntervalMs, storageIndexes.keep)
  storageIndexes.wakeBy(indexes.wake)
  const tasks: TaskHandle[] = [scheduler.start(supervisor), indexes]
  if (settlement !== undefined) {
    const { settle } = settlement
    tasks.push(supervisor.every('settlement', settlementIntervalMs, settle, settlement))
  }
  if (courier !== undefined) {
    tasks.push(supervisor.every('outbox', courierIntervalMs, courier.look))
  }
  return tasks
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
