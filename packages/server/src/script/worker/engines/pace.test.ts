import { expect, it } from 'vitest'
import { createPace } from './pace.ts'

it('[S-LIM-1] a guest is asked seldom while its steps take no time, and at each one that does', () => {
  let nowMs = 0
  const pace = createPace({ monotonicMs: () => nowMs }, { least: 16, most: 100 })
  const after = (ms: number) => {
    nowMs += ms
    return pace.next()
  }
  expect(pace.first()).toBe(16)
  expect([after(0.1), after(0.1), after(0.1), after(0.1)]).toEqual([32, 64, 100, 100])
  expect([after(50), after(10), after(0.1), after(0.1)]).toEqual([1, 1, 2, 4])
  nowMs += 1000
  expect(pace.first()).toBe(16)
  expect(after(0.1)).toBe(32)
})

it('[S-LIM-1] it is asked at its next step where one may have taken time', () => {
  const pace = createPace({ monotonicMs: () => 0 }, { least: 16, most: 100 })
  expect([pace.first(), pace.next()]).toEqual([16, 32])
  expect([pace.soon(), pace.next(), pace.next()]).toEqual([1, 2, 4])
})
