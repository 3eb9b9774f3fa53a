import { expect, test } from 'vitest'
import { busyClock } from './busy-clock.fixture.ts'
import { createSlices } from './slices.ts'

test('pauses after each slice for as long as it took, and asks for the time now and then', async () => {
  const { clock, work, slices } = busyClock()
  const { run, mustPause } = createSlices(clock, 2)
  let steps = 0
  function* count(): Generator<void, void> {
    for (; steps < 320; steps += 1) {
      if (mustPause()) yield
      work(0.1)
    }
  }
  const done = run(count())
  await clock.advance(1000)
  await done
  expect(steps).toBe(320)
  expect(slices.length).toBeGreaterThan(5)
  for (const { tookMs, pauseMs } of slices) {
    expect(tookMs).toBeLessThanOrEqual(2 + 3.2)
    expect(pauseMs).toBeCloseTo(tookMs)
  }
})

test('a step that is as much as many is looked at before it', () => {
  const { clock, work } = busyClock()
  const { mustPause, lookSoon } = createSlices(clock, 2)
  work(5)
  expect(mustPause(31)).toBe(false)
  expect(mustPause()).toBe(true)
  expect(mustPause(40)).toBe(true)
  expect(mustPause()).toBe(false)
  lookSoon()
  expect(mustPause()).toBe(true)
})

test('the work ends early when its caller says so', async () => {
  const { clock, work } = busyClock()
  const { run } = createSlices(clock, 2)
  let steps = 0
  function* count(): Generator<void, void> {
    for (;;) {
      steps += 1
      work(1)
      yield
    }
  }
  const done = run(count(), () => (steps === 3 ? 'ends' : 'goes on'))
  await clock.advance(100)
  await done
  expect(steps).toBe(3)
})
