import type { Clock } from '../../../kernel/clock.ts'
import type { GameScript } from '../../ports.ts'
import type { PlayerConnection } from '../player-connection.ts'

/** Knows who is not read from, and lets them go on when what they wait for is there. */
export type ReadingPauses = {
  /** The connection used up its rate. */
  awaitRate(connection: PlayerConnection): void
  /** The inbox of the script is full. */
  awaitScript(connection: PlayerConnection): void
  forget(connection: PlayerConnection): void
}

const refillMs = 20

export function createReadingPauses(clock: Clock, script: GameScript): ReadingPauses {
  const throttled = new Set<PlayerConnection>()
  const congested = new Set<PlayerConnection>()
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

  function drained(): void {
    const waiting = [...congested]
    congested.clear()
    for (const connection of waiting) connection.resumeAfterScript()
  }

  return {
    awaitRate(connection) {
      throttled.add(connection)
      arm()
    },
    awaitScript(connection) {
      congested.add(connection)
      if (congested.size === 1) script.onceDrained(drained)
    },
    forget(connection) {
      throttled.delete(connection)
      congested.delete(connection)
    },
  }
}
