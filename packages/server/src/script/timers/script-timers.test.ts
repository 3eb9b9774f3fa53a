import { expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createScriptTimers } from './script-timers.ts'

it.each([
  [0, 2_000],
  [100, 3_000],
])(
  '[S-LIM-6] [R-STA-6] beside %s rooms with state, %s of 3,000 timers go off',
  async (rooms, ran) => {
    const clock = createFakeClock()
    let count = 0
    const timers = createScriptTimers({
      clock,
      run: () => {
        count += 1
      },
      isSet() {},
      skipped() {},
      isBusy: () => false,
      rooms: () => rooms,
    })
    timers.loaded()
    for (let timer = 1; timer <= 3_000; timer += 1) timers.set({ timer, ms: 10, repeats: false })
    await clock.advance(10)
    expect(count).toBe(ran)
  },
)
