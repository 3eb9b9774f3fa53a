import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseExact, stringifyExact } from './exact-json.ts'

it('[H-GEN-15] gives every 64-bit integer back that it is given', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  fc.assert(
    fc.property(fc.array(fc.record({ delta: int64, text: fc.string() })), (rows) => {
      const read = parseExact(stringifyExact({ rows })) as { rows: { delta: number | bigint }[] }
      expect(read.rows.map(({ delta }) => BigInt(delta))).toEqual(rows.map(({ delta }) => delta))
    }),
  )
})

it('reads and writes everything else as JSON does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(stringifyExact(value)).toBe(text)
      const isExact = (part: unknown): boolean =>
        typeof part === 'object' && part !== null
          ? Object.values(part).every(isExact)
          : typeof part !== 'number' || !/^-?\d{16,19}$/.test(JSON.stringify(part))
      if (isExact(value)) expect(parseExact(text)).toEqual(JSON.parse(text))
    }),
  )
})

it.each([
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['-9007199254740993', -9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9223372036854775808', 2 ** 63],
  ['-9223372036854775809', -(2 ** 63)],
  ['100000000000000000000', 1e20],
  ['1234567890.1234567890', 1234567890.1234567],
  ['1e30', 1e30],
  ['"9223372036854775807"', '9223372036854775807'],
])('[H-GEN-15] reads %s as what it is', (literal, value) => {
  expect(parseExact(`{"of":${literal},"long":"0000000000000000"}`)).toMatchObject({ of: value })
})

it('writes a small bigint as the same number', () => {
  expect(stringifyExact({ delta: -5n })).toBe('{"delta":-5}')
})
