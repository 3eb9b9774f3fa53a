import { describe, expect, it } from 'vitest'
import { before, int64, int64ByName, int64Delta, offset, pathInteger } from './numbers.ts'

describe('a 64-bit integer', () => {
  it.each([9223372036854775807n, -9223372036854775808n, 9007199254740992n, 0n, -1n])(
    '[H-GEN-15] %s passes unrounded',
    (value) => {
      expect(int64.parse(value)).toBe(value)
    },
  )

  it('[H-GEN-15] a number is one as long as it is exact', () => {
    expect(int64.parse(Number.MAX_SAFE_INTEGER)).toBe(9007199254740991n)
    expect(int64.parse(-Number.MAX_SAFE_INTEGER)).toBe(-9007199254740991n)
    expect(int64.safeParse(Number.MAX_SAFE_INTEGER + 1).success).toBe(false)
  })

  it.each([
    9223372036854775808n,
    -9223372036854775809n,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '1',
    null,
    true,
  ])('[H-GEN-15] %s is none', (value) => {
    expect(int64.safeParse(value).success).toBe(false)
  })

  it('a change of one may be anything but 0', () => {
    expect([int64Delta.parse(1), int64Delta.parse(-1)]).toEqual([1n, -1n])
    expect(int64Delta.safeParse(0).success).toBe(false)
    expect(int64Delta.safeParse(0n).success).toBe(false)
  })
})

describe.each([
  ['[H-GEN-26] offset', offset],
  ['[H-GEN-26] before', before],
  ['[H-GEN-24] an integer in a path', pathInteger],
])('%s', (_name, schema) => {
  it.each([
    ['0', 0],
    ['007', 7],
    ['9007199254740991', 9007199254740991],
    ['0000000000000001', 1],
  ])('takes %s', (digits, value) => {
    expect(schema.parse(digits)).toBe(value)
  })

  it.each([
    '',
    '-1',
    '+1',
    '1.0',
    '1e3',
    ' 1',
    '0x1',
    '9007199254740992',
    '9999999999999999',
    '00000000000000001',
    '١',
  ])('refuses "%s"', (digits) => {
    expect(schema.safeParse(digits).success).toBe(false)
  })
})

describe('64-bit integers by name', () => {
  it('come as an object or as a Map', () => {
    const values = new Map([
      ['gold', 9223372036854775807n],
      ['gems', -1n],
    ])
    expect(int64ByName.parse(values)).toEqual({ gold: 9223372036854775807n, gems: -1n })
    expect(int64ByName.parse({ gold: 3 })).toEqual({ gold: 3n })
  })

  it.each([null, undefined, 'gold', 3, { gold: '3' }, { gold: 9223372036854775808n }])(
    'are not %o',
    (value) => {
      expect(int64ByName.safeParse(value).success).toBe(false)
    },
  )
})
