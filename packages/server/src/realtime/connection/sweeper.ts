import type { Clock, Timer } from '../../kernel/clock.ts'
import type { QueueTotals } from '../frames/queue-totals.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { closings } from './closing/closings.ts'
import type { TimedConnection } from './timed-connection.ts'

type SweeperDeps = {
  clock: Clock
  metrics: GatewayMetrics
  totals: QueueTotals
  connected: ReadonlySet<TimedConnection>
}

const sweepMs = 250
const sessionLifeCheckMs = 60_000
const highWaterWindowMs = 60_000

/**
 * The timers that all connections share: one pass looks at everybody, instead of a timer for each
 * of tens of thousands.
 */
export function startSweeper({ clock, metrics, totals, connected }: SweeperDeps): Timer {
  const sweep = clock.every(sweepMs, () => {
    const nowMs = clock.monotonicMs()
    for (const connection of connected) connection.sweep(nowMs)
  })
  const sessionLife = clock.every(sessionLifeCheckMs, () => {
    const nowUnixMs = clock.nowUnixMs()
    for (const connection of connected) {
      if (connection.sessionEnded(nowUnixMs)) connection.end(closings.sessionRevoked)
    }
  })
  const highWater = clock.every(highWaterWindowMs, () => {
    metrics.reliable_queue_high_water_bytes = totals.highWaterBytes
    totals.highWaterBytes = 0
  })
  return {
    cancel() {
      for (const timer of [sweep, sessionLife, highWater]) timer.cancel()
    },
  }
}
