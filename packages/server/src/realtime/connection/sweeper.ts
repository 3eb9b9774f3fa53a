import type { Clock, Timer } from '../../kernel/clock.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Seats } from '../play/seats/seats.ts'
import { closings } from './closing/closings.ts'
import type { PlayerConnection } from './player-connection.ts'
import type { QueueLedger } from './send-queue/send-queue.ts'

type SweeperDeps = {
  clock: Clock
  metrics: GatewayMetrics
  ledger: QueueLedger
  connected: ReadonlySet<PlayerConnection>
  seats: Pick<Seats, 'sweep'>
}

const sweepMs = 250
const sessionLifeCheckMs = 60_000
const highWaterWindowMs = 60_000

/**
 * The timers that all connections share: one pass looks at everybody, instead of a timer for each
 * of tens of thousands.
 */
export function startSweeper({ clock, metrics, ledger, connected, seats }: SweeperDeps): Timer {
  const sweep = clock.every(sweepMs, () => {
    const nowMs = clock.monotonicMs()
    for (const connection of connected) connection.sweep(nowMs)
  })
  const sessionLife = clock.every(sessionLifeCheckMs, () => {
    const nowUnixMs = clock.nowUnixMs()
    for (const connection of connected) {
      if (connection.sessionEnded(nowUnixMs)) connection.end(closings.sessionRevoked)
    }
    seats.sweep(nowUnixMs)
  })
  const highWater = clock.every(highWaterWindowMs, () => {
    metrics.reliable_queue_high_water_bytes = ledger.highWaterBytes
    ledger.highWaterBytes = 0
  })
  return {
    cancel() {
      for (const timer of [sweep, sessionLife, highWater]) timer.cancel()
    },
  }
}
