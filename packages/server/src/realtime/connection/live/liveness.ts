import type { Clock } from '../../../kernel/clock.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { Connection } from '../transports/transport.ts'

/** An interval of 0 sends no pings. */
export type LivenessConfig = { intervalMs: number; timeoutMs: number }

type LivenessDeps = { clock: Clock; liveness: LivenessConfig; metrics: GatewayMetrics }

/**
 * Asks a connection for signs of life: at most one ping is unanswered, and any pong answers it.
 * Times are whole milliseconds, which the engine keeps inside the object.
 */
export class Liveness {
  readonly #connection: Connection
  readonly #deps: LivenessDeps
  #nextPingMs = 0
  #askedAtMs: number | undefined

  constructor(connection: Connection, deps: LivenessDeps) {
    this.#connection = connection
    this.#deps = deps
  }

  begin(): void {
    const { clock, liveness } = this.#deps
    this.#nextPingMs = Math.floor(clock.monotonicMs()) + liveness.intervalMs
  }

  /** False when the connection has been silent for too long. */
  check(nowMs: number): boolean {
    const { intervalMs, timeoutMs } = this.#deps.liveness
    if (intervalMs === 0 || this.#connection.ping === undefined) return true
    const { metrics } = this.#deps
    if (this.#askedAtMs !== undefined) {
      if (nowMs - this.#askedAtMs < timeoutMs) return true
      metrics.websocket_liveness_timeouts_total += 1
      return false
    }
    if (nowMs < this.#nextPingMs) return true
    this.#askedAtMs = Math.floor(nowMs)
    this.#nextPingMs = this.#askedAtMs + intervalMs
    this.#connection.ping()
    metrics.websocket_pings_sent_total += 1
    return true
  }

  /** Answers whether it was asked for. */
  ponged(): boolean {
    const isAnswer = this.#askedAtMs !== undefined
    this.#askedAtMs = undefined
    this.#deps.metrics.websocket_pongs_received_total += 1
    return isAnswer
  }

  /** A pong could not be seen while nothing was read; that time does not count. */
  postpone(pausedMs: number): void {
    if (this.#askedAtMs !== undefined) this.#askedAtMs += Math.floor(pausedMs)
  }
}
