import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

function create() {
  let nowMs = 0
  let asked = 0
  let ticks = 0
  const monotonicMs = () => {
    asked += 1
    return nowMs
  }
  const isLate = (at: number) => at > 1000
  const pace = createPace({ clock: { monotonicMs }, ticks: () => ticks, isLate }, 100)
  return {
    pace,
    asked: () => asked,
    pass(ms: number, ticked = false) {
      nowMs += ms
      if (ticked) ticks += 1
    },
  }
}

it('[S-LIM-1] the clock is asked at few looks while no time passes, and then at once', () => {
  const { pace, asked, pass } = create()
  const looks = (count: number) => Array.from({ length: count }, () => pace.next())
  expect(pace.first()).toBe(100)
  expect(looks(1)).toEqual([100])
  expect(asked()).toBe(1)
  expect(looks(3)).toEqual([100, 100, 100])
  expect(asked()).toBe(1)
  pass(0.5, true)
  expect(looks(1)).toEqual([100])
  expect(asked()).toBe(2)
  pass(1000, true)
  expect(looks(1)).toEqual([0])
})

it('[S-LIM-1] where nobody counts ticks, slow steps are looked at one by one', () => {
  const { pace, asked, pass } = create()
  pace.first()
  pace.next()
  pass(50)
  expect([pace.next(), pace.next(), pace.next(), pace.next()]).toEqual([100, 100, 100, 1])
  pass(50)
  expect([pace.next(), pace.next()]).toEqual([1, 100])
  expect(asked()).toBe(4)
})

it('[S-LIM-1] it is asked at its next step where one may have taken time', () => {
  const { pace, pass } = create()
  pace.first()
  pace.next()
  pass(1001)
  expect([pace.soon(), pace.next()]).toEqual([1, 0])
})
