import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutText } from './cut-text.ts'

it.each([
  ['abc', 3, 'abc'],
  ['abc', 2, 'ab'],
  ['é', 1, ''],
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['😀a', 3, ''],
  ['😀a', 4, '😀'],
  ['', 0, ''],
])('cuts %j to at most %d bytes: %j', (text, bytesMax, kept) => {
  expect(cutText(text, bytesMax)).toBe(kept)
})

it('keeps as many whole characters as fit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 40 }), (text, bytesMax) => {
      const kept = cutText(text, bytesMax)
      expect(text.startsWith(kept)).toBe(true)
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytesMax)
      const [next = ''] = text.slice(kept.length)
      expect(next === '' || Buffer.byteLength(kept + next) > bytesMax).toBe(true)
    }),
  )
})
