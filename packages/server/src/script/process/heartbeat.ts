import type { Clock, Timer } from '../../kernel/clock.ts'
import { protocolTimes } from '../wire/limits.ts'

/** Notices when the worker process has stopped to say that it is alive. */
export type Heartbeat = { start(): void; beat(): void; stop(): void }

export function createHeartbeat(clock: Clock, missed: () => void): Heartbeat {
  const everyMs = protocolTimes.beatEveryMs
  let timer: Timer | undefined
  let lastLookMs = 0
  let silentMs = 0

  function look(): void {
    const nowMs = clock.monotonicMs()
    // When this thread itself was held up, beats may be waiting to be read: what counts is the time
    // that it has listened, not the time that has passed.
    silentMs += Math.min(nowMs - lastLookMs, everyMs * 2)
    lastLookMs = nowMs
    if (silentMs > protocolTimes.pongWithinMs) missed()
  }

  return {
    start() {
      lastLookMs = clock.monotonicMs()
      timer ??= clock.every(everyMs, look)
    },
    beat() {
      silentMs = 0
    },
    stop: () => timer?.cancel(),
  }
}
