import type { Clock } from '../../../kernel/clock.ts'
import type { GameScript } from '../../ports.ts'
import type { Session } from '../session.ts'

/** Knows who is not read from, and lets them go on when what they wait for is there. */
export type ReadingPauses = {
  /** The session used up its rate. */
  awaitRate(session: Session): void
  /** The inbox of the script is full. */
  awaitScript(session: Session): void
  forget(session: Session): void
}

const refillMs = 20

export function createReadingPauses(clock: Clock, script: GameScript): ReadingPauses {
  const throttled = new Set<Session>()
  const congested = new Set<Session>()
  let armed = false

  function refill(): void {
    armed = false
    const nowMs = clock.monotonicMs()
    // Who uses up the rate again at once is added again, behind those that were there before.
    for (const session of [...throttled]) {
      throttled.delete(session)
      if (!session.resumeAfterRate(nowMs)) throttled.add(session)
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
    for (const session of waiting) session.resumeAfterScript()
  }

  return {
    awaitRate(session) {
      throttled.add(session)
      arm()
    },
    awaitScript(session) {
      congested.add(session)
      if (congested.size === 1) script.onceDrained(drained)
    },
    forget(session) {
      throttled.delete(session)
      congested.delete(session)
    },
  }
}
