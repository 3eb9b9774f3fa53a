import { createFakeClock } from '../clock.fake.ts'
import type { Clock } from '../clock.ts'

/** A clock that also goes on by what a test says to have worked. */
export function busyClock() {
  const fake = createFakeClock()
  let busyMs = 0
  let pausedAtMs = 0
  /** The work between two pauses, and how long the pause behind it is. */
  const slices: { tookMs: number; pauseMs: number }[] = []
  const clock: Clock & Pick<typeof fake, 'advance'> = {
    ...fake,
    monotonicMs: () => fake.monotonicMs() + busyMs,
    sleep(delayMs) {
      slices.push({ tookMs: busyMs - pausedAtMs, pauseMs: delayMs })
      pausedAtMs = busyMs
      return fake.sleep(delayMs)
    },
  }
  return {
    clock,
    slices,
    work(ms: number): void {
      busyMs += ms
    },
  }
}
