import type { Outcome } from './calls.ts'
import type { Inbox } from './inbox.ts'
import { type ReadinessState, readinessNumber } from './readiness.ts'

/** What the host has counted since the node started. */
export type ScriptMetrics = {
  calls: number
  errors: number
  timeouts: number
  interrupts: number
  restarts: number
  /** Candidates that took over, and those that were rejected. */
  reloads: number
  reloadRejections: number
  ticks: number
  ticksSkipped: number
  commands: number
  gateRejections: number
  count(status: Outcome['status']): void
  /** A failed run of a call that has several, such as one room of a tick. */
  countRun(status: Outcome['status']): void
  /** A run of a tick or timer that was left out. */
  countSkipped(): void
}

export function createScriptMetrics(): ScriptMetrics {
  const metrics: ScriptMetrics = {
    calls: 0,
    errors: 0,
    timeouts: 0,
    interrupts: 0,
    restarts: 0,
    reloads: 0,
    reloadRejections: 0,
    ticks: 0,
    ticksSkipped: 0,
    commands: 0,
    gateRejections: 0,
    count(status) {
      metrics.calls += 1
      if (status === 'timed_out') metrics.timeouts += 1
      else if (status !== 'ok') metrics.errors += 1
    },
    countRun(status) {
      if (status === 'timed_out') metrics.timeouts += 1
      else if (status !== 'ok') metrics.errors += 1
    },
    countSkipped() {
      metrics.ticksSkipped += 1
    },
  }
  return metrics
}

/** The values under the names that `/metrics` shows. */
export function describeMetrics(metrics: ScriptMetrics, inbox: Inbox, state: ReadinessState) {
  return {
    script_calls_total: metrics.calls,
    script_call_errors_total: metrics.errors,
    script_call_timeouts_total: metrics.timeouts,
    script_interrupts_total: metrics.interrupts,
    script_worker_restarts_total: metrics.restarts,
    script_reloads_total: metrics.reloads,
    script_reload_rejections_total: metrics.reloadRejections,
    script_inbox_calls: inbox.calls(),
    script_inbox_full_total: inbox.fullTotal(),
    script_ticks_total: metrics.ticks,
    script_ticks_skipped_total: metrics.ticksSkipped,
    script_commands_total: metrics.commands,
    script_gate_rejections_total: metrics.gateRejections,
    script_readiness_state: readinessNumber(state),
  }
}
