import type { Clock } from '../../../kernel/clock.ts'

/** Of what is unpacked, of all uploads together: the largest one takes 4 s if it is alone. */
const bytesPerSecond = 16_777_216
/** So much may go at once, which is more than most recordings have. */
const burstBytes = 1_048_576
const burstMs = (burstBytes * 1000) / bytesPerSecond

/** The speed that the uploads of a node share: none is urgent, and what else the node does is. */
export type Pace = {
  /**
   * Counts bytes that an upload has unpacked. What it returns resolves when the upload may go on,
   * and rejects with the signal's reason; undefined if it may at once. Those that wait take turns.
   */
  spend(bytes: number, signal: AbortSignal): Promise<void> | undefined
}

export function createPace(clock: Pick<Clock, 'monotonicMs' | 'sleep'>): Pace {
  /** When all that was unpacked so far has had its time. */
  let paidMs = Number.NEGATIVE_INFINITY
  return {
    spend(bytes, signal) {
      const nowMs = clock.monotonicMs()
      paidMs = Math.max(paidMs, nowMs - burstMs) + (bytes * 1000) / bytesPerSecond
      if (paidMs <= nowMs) return undefined
      return clock.sleep(paidMs - nowMs, signal).catch(() => signal.throwIfAborted())
    },
  }
}
