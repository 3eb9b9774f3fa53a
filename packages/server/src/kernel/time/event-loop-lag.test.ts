import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createSystemClock } from '../clock.ts'
import { watchEventLoopLag } from './event-loop-lag.ts'

/** A clock whose loop can stand still: time passes and no timer fires. */
function createBlockingClock() {
  const clock = createFakeClock()
  let blockedMs = 0
  const block = (ms: number) => {
    blockedMs += ms
  }
  return { ...clock, monotonicMs: () => clock.monotonicMs() + blockedMs, block }
}

describe('the event-loop lag', () => {
  it('[H-PUB-2] is nothing while timers fire in time', async () => {
    const clock = createFakeClock()
    const lag = watchEventLoopLag(clock)
    await clock.advance(70_000)
    expect(lag.p99Ms()).toBe(0)
    lag.stop()
    expect(clock.timersWaiting()).toBe(0)
  })

  it('[H-PUB-2] is the 99th percentile: one short stop in a minute does not show', async () => {
    const clock = createBlockingClock()
    const lag = watchEventLoopLag(clock)
    await clock.advance(60_000)
    clock.block(500)
    await clock.advance(100)
    expect(lag.p99Ms()).toBe(0)
  })

  it('[H-PUB-2] counts what a long stop delayed, and forgets it after a minute', async () => {
    const clock = createBlockingClock()
    const lag = watchEventLoopLag(clock)
    await clock.advance(60_000)
    clock.block(5000)
    await clock.advance(100)
    expect(lag.p99Ms()).toBeGreaterThan(4000)
    expect(lag.p99Ms()).toBeLessThanOrEqual(5000)
    await clock.advance(50_000)
    expect(lag.p99Ms()).toBeGreaterThan(4000)
    await clock.advance(11_000)
    expect(lag.p99Ms()).toBe(0)
  })

  it('[H-PUB-2] survives a stop that is longer than its window', async () => {
    const clock = createBlockingClock()
    const lag = watchEventLoopLag(clock)
    clock.block(3_600_000)
    await clock.advance(100)
    expect(lag.p99Ms()).toBeGreaterThan(3_500_000)
    await clock.advance(61_000)
    expect(lag.p99Ms()).toBe(0)
  })

  it('[H-PUB-2] notices a loop that really stands still', async () => {
    const clock = createSystemClock()
    const lag = watchEventLoopLag(clock)
    const untilMs = clock.monotonicMs() + 1500
    while (clock.monotonicMs() < untilMs);
    await clock.sleep(200)
    expect(lag.p99Ms()).toBeGreaterThan(500)
    lag.stop()
  })
})
