import { expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { arm, createControl, disarm, setAttached, takeInterrupt } from '../control.ts'
import { createInterrupter } from './interrupter.ts'

const lookEveryMs = 25

function create() {
  const clock = createFakeClock()
  const { control } = createControl()
  const ends: number[] = []
  const nowMs = () => clock.monotonicMs()
  const look = createInterrupter({ control, clock, nowMs, terminate: () => ends.push(nowMs()) })
  clock.every(lookEveryMs, look)
  return { clock, control, ends, nowMs }
}

it('[S-LIM-1] what is armed is interrupted when its time is over, and not twice', async () => {
  const { clock, control, ends, nowMs } = create()
  await clock.advance(10)
  const untilMs = nowMs() + 140
  arm(control, untilMs)
  await clock.advance(139)
  expect(ends).toEqual([])
  await clock.advance(2_000)
  expect(ends).toEqual([untilMs])
  expect(disarm(control)).toBe(false)
  expect([takeInterrupt(control), takeInterrupt(control)]).toEqual([true, false])
})

it('[S-LIM-1] what has ended in time is not, nor what is armed after it', async () => {
  const { clock, control, ends, nowMs } = create()
  for (let n = 0; n < 50; n += 1) {
    arm(control, nowMs() + 40)
    await clock.advance(39)
    expect(disarm(control)).toBe(true)
  }
  expect([ends, takeInterrupt(control)]).toEqual([[], false])
})

it('[S-LIM-1] nor what has come after an interrupt, by a timer of what ended before', async () => {
  const { clock, control, ends, nowMs } = create()
  arm(control, nowMs() + 70)
  await clock.advance(30)
  disarm(control)
  arm(control, nowMs() + 15)
  await clock.advance(25)
  expect([ends.length, takeInterrupt(control)]).toEqual([1, true])
  arm(control, nowMs() + 1_000)
  await clock.advance(900)
  expect([ends.length, disarm(control)]).toEqual([1, true])
})

it('[S-DBG-1] nothing is while a debugger is attached', async () => {
  const { clock, control, ends, nowMs } = create()
  arm(control, nowMs() + 40)
  await clock.advance(30)
  setAttached(control, true)
  await clock.advance(1_000)
  expect([ends, disarm(control)]).toEqual([[], true])
})
