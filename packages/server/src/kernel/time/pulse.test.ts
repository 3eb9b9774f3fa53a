import { expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { startPulse } from './pulse.ts'

it('goes off at its moments, whatever each of them has cost', async () => {
  const clock = createFakeClock()
  const atMs: number[] = []
  const startMs = clock.monotonicMs()
  const pulse = startPulse(clock, { everyMs: 50, laterMs: 10 }, () => {
    atMs.push(clock.monotonicMs() - startMs)
  })
  await clock.advance(215)
  expect(atMs).toEqual([60, 110, 160, 210])
  pulse.cancel()
  await clock.advance(500)
  expect(atMs).toHaveLength(4)
})

it('leaves out what has passed while the process was held up', () => {
  let nowMs = 0
  const due: { ms: number; task: () => void }[] = []
  const after = (ms: number, task: () => void) => {
    due.push({ ms: nowMs + ms, task })
    return { cancel() {} }
  }
  let runs = 0
  startPulse({ ...createFakeClock(), monotonicMs: () => nowMs, after }, { everyMs: 50 }, () => {
    runs += 1
  })
  expect(due.at(-1)?.ms).toBe(50)
  nowMs = 173
  due.at(-1)?.task()
  expect([runs, due.at(-1)?.ms]).toEqual([1, 200])
  // A timer of whole milliseconds that is early counts as on time.
  nowMs = 199.6
  due.at(-1)?.task()
  expect([runs, due.at(-1)?.ms]).toEqual([2, 250])
})
