import type { Config } from '../config/schema.ts'
import type { Database } from '../database/database.ts'
import type { NodeClaim } from '../database/jobs/node-claim.ts'
import type { Clock } from '../kernel/clock.ts'
import type { ErrorJournal } from '../kernel/errors/error-journal.ts'
import type { DiskSpace } from '../kernel/host/disk-space.ts'
import type { Supervisor } from '../kernel/tasks/supervisor.ts'
import type { ClockWatch } from '../kernel/time/clock-watch.ts'
import type { EventLoopLag } from '../kernel/time/event-loop-lag.ts'
import { createHealth, type HealthJudge } from '../shell/health.ts'
import type { Cluster } from './cluster/open-cluster.ts'
import { type FeatureList, failingOf, isDegraded, queuesOf } from './features/joined.ts'
import type { Play } from './play/play.ts'
import { essentialTasks } from './tasks.ts'

type HealthParts = {
  config: Config
  db: Database
  clock: Clock
  clockWatch: ClockWatch
  disk: DiskSpace | undefined
  supervisor: Supervisor
  features: FeatureList
  play: Play
  claim: NodeClaim
  lag: EventLoopLag
  journal: ErrorJournal
  cluster: Cluster | undefined
}

/** An essential task that has failed this long makes the node not ready, in milliseconds. */
const failingMaxMs = 30_000

/** Gives the health checks what they look at. */
export function createHealthOf(parts: HealthParts): HealthJudge {
  const { config, db, clock, supervisor, features, play, claim, lag, journal } = parts
  const { clockWatch, disk, cluster } = parts
  const queues = queuesOf(features)
  const essential = essentialTasks(features)
  return createHealth({
    clock,
    databaseState: () => db.state(),
    nodeClaimHeld: () => claim.ok(),
    // The node answers only once its listener is bound.
    realtimeListening: () => true,
    requiredScriptReady: () =>
      config.runtime.require_script ? play.scriptState() === 'ready' : undefined,
    scriptState: () => play.scriptState(),
    failingTasks() {
      const failing = supervisor.failing()
      const essentialFailing = failing.some(
        ({ name, forMs }) => essential.has(name) && forMs >= failingMaxMs,
      )
      // A part that fails is worth a look, but no reason to send nobody here.
      const names = new Set([...failing.map(({ name }) => name), ...failingOf(features)])
      return { names: [...names], essentialFailing }
    },
    queueFill: () => Math.max(0, ...queues.map((queue) => queue.counts().queued / queue.capacity)),
    eventLoopLagMs: () => lag.p99Ms(),
    journalWritable: () => journal.writable(),
    rowsDroppedAgoMs: () => Math.min(...queues.map((queue) => queue.droppedAgoMs())),
    clockDoubtful: () => clockWatch.doubtful(),
    diskLow: () => disk?.low() ?? false,
    featureDegraded: () => isDegraded(features) || cluster?.bus.isUp === false,
  })
}
