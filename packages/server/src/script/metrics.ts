import type { Outcome } from './calls.ts'

/** What the host has counted since the node started. */
export type ScriptMetrics = {
  calls: number
  errors: number
  timeouts: number
  interrupts: number
  restarts: number
  ticks: number
  ticksSkipped: number
  commands: number
  gateRejections: number
  count(status: Outcome['status']): void
}

export function createScriptMetrics(): ScriptMetrics {
  const metrics: ScriptMetrics = {
    calls: 0,
    errors: 0,
    timeouts: 0,
    interrupts: 0,
    restarts: 0,
    ticks: 0,
    ticksSkipped: 0,
    commands: 0,
    gateRejections: 0,
    count(status) {
      metrics.calls += 1
      if (status === 'timed_out') metrics.timeouts += 1
      else if (status !== 'ok') metrics.errors += 1
    },
  }
  return metrics
}
