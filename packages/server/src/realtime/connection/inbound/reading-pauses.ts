import type { Clock } from '../../../kernel/clock.ts'
import type { TimedConnection } from '../timed-connection.ts'

/** Knows who has used up its rate, and lets them go on when there is some again. */
export type ReadingPauses = {
  /** The connection used up its rate. */
  awaitRate(connection: TimedConnection): void
  forget(connection: TimedConnection): void
}

const refillMs = 20

export function createReadingPauses(clock: Clock): ReadingPauses {
  const throttled = new Set<TimedConnection>()
  let armed = false

  function refill(): void {
    armed = false
    const nowMs = clock.monotonicMs()
    // Who uses up the rate again at once is added again, behind those that were there before.
    for (const connection of [...throttled]) {
      throttled.delete(connection)
      if (!connection.resumeAfterRate(nowMs)) throttled.add(connection)
    }
    arm()
  }

  function arm(): void {
    if (armed || throttled.size === 0) return
    armed = true
    clock.after(refillMs, refill)
  }

  return {
    awaitRate(connection) {
      throttled.add(connection)
      arm()
    },
    forget: (connection) => void throttled.delete(connection),
  }
}
