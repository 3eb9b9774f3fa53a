import { createSteppedClock, type SteppedClock } from './time/stepped-clock.ts'

/** A clock that stands still until a test moves it. */
export type FakeClock = SteppedClock

/** 2025-01-01 00:00:00 UTC: a midnight, a month's first and a year's first. */
const defaultStartUnixMs = 1_735_689_600_000

export function createFakeClock({ startUnixMs = defaultStartUnixMs } = {}): FakeClock {
  return createSteppedClock({ startUnixMs })
}
