import fc from 'fast-check'
import { expect, it } from 'vitest'
import { minimum } from './minimum.ts'

it('[O-SCH-7] finds the least of however many there are', () => {
  // More than a call takes as arguments.
  const many = Array.from({ length: 300_000 }, (_, index) => ({ value: 300_000 - index }))
  expect(minimum(many, ({ value }) => value)).toBe(1)
  expect(minimum([], () => 1)).toBeUndefined()
})

it('[O-SCH-7] finds what sorting would put first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (values) => {
      const [first] = values.toSorted((a, b) => a - b)
      expect(minimum(values, (value) => value)).toBe(first)
    }),
  )
})
