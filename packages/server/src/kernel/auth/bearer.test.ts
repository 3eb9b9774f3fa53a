import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bearerOf } from './bearer.ts'

describe('bearerOf', () => {
  it('[H-AUTH-1] takes any visible ASCII of 1 to 4,096 characters', () => {
    const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.string({ unit: visible, minLength: 1, maxLength: 100 }), (token) => {
        expect(bearerOf([`Bearer ${token}`])).toBe(token)
      }),
    )
    expect(bearerOf([`Bearer ${'x'.repeat(4096)}`])).toHaveLength(4096)
    expect(() => bearerOf([`Bearer ${'x'.repeat(4097)}`])).toThrow()
  })

  it('[H-AUTH-1] has none without a line, and refuses two', () => {
    expect(bearerOf([])).toBeUndefined()
    expect(() => bearerOf(['Bearer a', 'Bearer a'])).toThrow()
    expect(() => bearerOf(['', 'Bearer a'])).toThrow()
  })

  it('[H-AUTH-1] refuses every other form', () => {
    const unit = fc.constantFrom(...'Bearer \t\n\r,=é\u0000\u007f\u0080')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (line) => {
        fc.pre(!/^Bearer [\x21-\x7e]+$/.test(line))
        expect(() => bearerOf([line])).toThrow('malformed authorization header')
      }),
      { numRuns: 1000 },
    )
    for (const line of ['Bearer a\n', 'Bearer a ', ' Bearer a', 'Bearer a b', 'bearer a', '']) {
      expect(() => bearerOf([line])).toThrow('malformed authorization header')
    }
  })

  it('[H-GEN-3] does not show what it refuses', () => {
    expect(() => bearerOf(['Basic SECRET'])).toThrow(/^(?!.*SECRET)/)
  })
})
