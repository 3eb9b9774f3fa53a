import { expect, it } from 'vitest'
import { writeShared, writtenOnce } from './written-once.ts'

it('writes an answer that is shared once, and any other each time', () => {
  let written = 0
  const write = (value: unknown) => {
    written += 1
    return JSON.stringify(value)
  }
  const shared = writtenOnce({ a: 1 })
  const own = { a: 1 }
  for (const answer of [shared, shared, own, own]) {
    expect(writeShared(answer, write)).toBe('{"a":1}')
  }
  expect(written).toBe(3)
  expect(writeShared('text', write)).toBe('"text"')
})
