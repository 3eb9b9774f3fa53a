import type { Clock } from '../clock.ts'

/** How late the event loop is in doing what is due. */
export type EventLoopLag = {
  /** The 99th percentile of the last minute, in milliseconds. */
  p99Ms(): number
  stop(): void
}

const sampleEveryMs = 100
const windowMs = 60_000

/**
 * Measures by being late itself. A loop that stands still delays everything that falls due
 * meanwhile and not only this one timer, so each interval that was missed counts as a sample.
 */
export function watchEventLoopLag(clock: Clock, observe?: (lagMs: number) => void): EventLoopLag {
  const samples = new Float64Array(windowMs / sampleEveryMs)
  let next = 0
  let dueMs = clock.monotonicMs() + sampleEveryMs

  const timer = clock.every(sampleEveryMs, () => {
    const nowMs = clock.monotonicMs()
    const missed = Math.min(samples.length, Math.ceil((nowMs - dueMs) / sampleEveryMs))
    for (let late = 0; late <= missed; late += 1) {
      const lagMs = Math.max(0, nowMs - dueMs - late * sampleEveryMs)
      observe?.(lagMs)
      samples[next] = lagMs
      next = (next + 1) % samples.length
    }
    dueMs = nowMs + sampleEveryMs
  })

  return {
    p99Ms: () => samples.toSorted()[Math.floor(samples.length * 0.99) - 1] ?? 0,
    stop: () => timer.cancel(),
  }
}
