import type { ScriptConfig } from '../config.ts'
import { protocolTimes } from '../wire/limits.ts'

/** What decides when a failed worker is started again. */
export type Recovery = {
  readonly consecutiveFailures: number
  readonly circuitOpen: boolean
  /** When the last successful start was; undefined before the first. */
  readonly startedMs: number | undefined
}

type Limits = Pick<ScriptConfig, 'restart_limit' | 'restart_backoff_ms' | 'restart_backoff_max_ms'>

export const firstRecovery: Recovery = {
  consecutiveFailures: 0,
  circuitOpen: false,
  startedMs: undefined,
}

/** A worker serves. A success of the open circuit's probe forgives everything. */
export function afterStart(recovery: Recovery, nowMs: number): Recovery {
  const consecutiveFailures = recovery.circuitOpen ? 0 : recovery.consecutiveFailures
  return { consecutiveFailures, circuitOpen: false, startedMs: nowMs }
}

/** A serving worker failed. It counts only when it comes soon after its start. */
export function afterFailure(recovery: Recovery, nowMs: number, limits: Limits): Recovery {
  const healthy = isHealthy(recovery, nowMs)
  return counted(recovery, healthy ? 0 : recovery.consecutiveFailures + 1, limits)
}

/** An attempt to start again failed. */
export function afterFailedAttempt(recovery: Recovery, limits: Limits): Recovery {
  return counted(recovery, recovery.consecutiveFailures + 1, limits)
}

/** How long to wait before the next attempt; an open circuit is probed at the longest pace. */
export function delayMs(recovery: Recovery, limits: Limits): number {
  if (recovery.circuitOpen) return limits.restart_backoff_max_ms
  const doubled = limits.restart_backoff_ms * 2 ** recovery.consecutiveFailures
  return Math.min(doubled, limits.restart_backoff_max_ms)
}

/** The count as an operator sees it: 0 again after a while of health. */
export function shownFailures(recovery: Recovery, nowMs: number): number {
  return isHealthy(recovery, nowMs) ? 0 : recovery.consecutiveFailures
}

function isHealthy({ startedMs }: Recovery, nowMs: number): boolean {
  return startedMs !== undefined && nowMs - startedMs >= protocolTimes.healthyAfterMs
}

function counted(recovery: Recovery, consecutiveFailures: number, limits: Limits): Recovery {
  return {
    consecutiveFailures,
    circuitOpen: recovery.circuitOpen || consecutiveFailures >= limits.restart_limit,
    startedMs: undefined,
  }
}
