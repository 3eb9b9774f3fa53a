import { describe, expect, test } from 'vitest'
import { kindRow, kinds } from './kinds.ts'

describe('the table', () => {
  test('every kind from 0 to 65535 has exactly one row, in order', () => {
    let next = 0
    for (const { first, last } of Object.values(kinds)) {
      expect(first).toBe(next)
      next = last + 1
    }
    expect(next).toBe(65536)
  })

  test('every row answers for all of its kinds', () => {
    for (const row of Object.values(kinds)) {
      expect(kindRow(row.first)).toBe(row)
      expect(kindRow(row.last)).toBe(row)
    }
    for (const kind of [-1, 65536, 1.5, 100.5]) expect(() => kindRow(kind)).toThrow(RangeError)
  })

  test('[R-KND-2] the kinds that only the server sends are the listed ones', () => {
    const fromServer = Object.values(kinds).filter((row) => row.direction === 'server')
    expect(fromServer.map((row) => row.first)).toEqual([
      2, 4, 6, 23, 26, 27, 28, 32, 33, 34, 37, 38, 45, 46, 47, 50,
    ])
  })

  test('[R-KND-3] only positions and application kinds may travel unreliably from a client', () => {
    const either = Object.values(kinds).filter((row) => row.lane === 'either')
    expect(either.map((row) => [row.first, row.last])).toEqual([
      [1, 1],
      [100, 65535],
    ])
  })
})
