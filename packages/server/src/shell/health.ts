import type { Health, Readiness } from '@guildhall/contract'
import type { z } from 'zod'
import type { Clock } from '../kernel/clock.ts'

type HealthStatus = z.output<ReturnType<typeof Health>>['status']
type ReadinessBody = z.output<ReturnType<typeof Readiness>>

export type HealthDeps = {
  clock: Clock
  databaseState(): 'up' | 'suspect' | 'down'
  nodeClaimHeld(): boolean
  realtimeListening(): boolean
  /** Undefined when the node does not require a script. */
  requiredScriptReady(): boolean | undefined
  scriptState(): string
  /** Names of tasks that are backing off or stalled, and of those that have failed for 30 s. */
  failingTasks(): { names: string[]; essentialFailing: boolean }
  /** Fullest write-behind queue, 0 to 1. */
  queueFill(): number
  /** 99th percentile of the last minute, in milliseconds. */
  eventLoopLagMs(): number
  /** Whether a feature says that somebody should look at it. */
  featureDegraded(): boolean
  /** Whether the error journal can be written. */
  journalWritable(): boolean
  /** How long ago a full write-behind queue dropped a row. */
  rowsDroppedAgoMs(): number
  /** Whether somebody should look at the clock of this node or of the database. */
  clockDoubtful(): boolean
  /** Whether the disk of an embedded file is nearly full. */
  diskLow(): boolean
}

/** A database that stays silent this long makes the node unhealthy, in milliseconds. */
const databaseSilenceMs = 5000
const eventLoopLagMaxMs = 500
const queueFillMax = 0.9
/** Lost rows are worth a look for this long, in milliseconds. */
const rowsDroppedMs = 300_000

/** Judges the node for load balancers and restart policies. */
export function createHealth(deps: HealthDeps) {
  let draining = false
  let downSinceMs: number | undefined

  /** Called by the probe and by every judgement, so that the silence is measured from its start. */
  function databaseSilent(): boolean {
    if (deps.databaseState() !== 'down') {
      downSinceMs = undefined
      return false
    }
    downSinceMs ??= deps.clock.monotonicMs()
    return deps.clock.monotonicMs() - downSinceMs >= databaseSilenceMs
  }

  function degraded(): boolean {
    return (
      deps.databaseState() === 'down' ||
      ['degraded', 'unavailable'].includes(deps.scriptState()) ||
      deps.failingTasks().names.length > 0 ||
      deps.queueFill() > queueFillMax ||
      deps.eventLoopLagMs() > eventLoopLagMaxMs ||
      deps.featureDegraded() ||
      !deps.journalWritable() ||
      deps.rowsDroppedAgoMs() < rowsDroppedMs ||
      deps.clockDoubtful() ||
      deps.diskLow()
    )
  }

  return {
    watch: databaseSilent,
    drain() {
      draining = true
    },
    draining: () => draining,
    status(): HealthStatus {
      if (draining || databaseSilent() || !deps.nodeClaimHeld()) return 'unhealthy'
      return degraded() ? 'degraded' : 'healthy'
    },
    readiness(): ReadinessBody {
      const databaseUp = deps.databaseState() !== 'down'
      const scriptReady = deps.requiredScriptReady()
      const failing = deps.failingTasks()
      const checks = [
        { name: 'database', ok: databaseUp },
        // The node does not get as far as this without them.
        { name: 'migrations', ok: true },
        { name: 'node_claim', ok: deps.nodeClaimHeld() },
        { name: 'realtime', ok: deps.realtimeListening() },
        ...(scriptReady === undefined ? [] : [{ name: 'script', ok: scriptReady }]),
        { name: 'tasks', ok: !failing.essentialFailing, failing: failing.names },
        { name: 'draining', ok: !draining },
      ]
      return { status: checks.every(({ ok }) => ok) ? 'ready' : 'not_ready', checks }
    },
  }
}

export type HealthJudge = ReturnType<typeof createHealth>
