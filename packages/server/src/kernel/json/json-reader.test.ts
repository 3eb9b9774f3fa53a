import type { Json } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonRefusal, readJson } from './json-reader.ts'

const jsonOf = (text: string): Json => readJson(text).value

/** The text as `JSON.parse` reads it, or the marker that it does not. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return refused
  }
}
function read(text: string): unknown {
  try {
    return readJson(text).value
  } catch (error) {
    if (error instanceof JsonRefusal) return refused
    throw error
  }
}
const refused = Symbol('refused')

/** No JSON, though each looks like it. */
const broken: readonly string[] = [
  '',
  ' ',
  'nul',
  'True',
  '01',
  '-',
  '-01',
  '1.',
  '.1',
  '1e',
  '1e+',
  '+1',
  '0x1',
  'Infinity',
  'NaN',
  '[1,]',
  '[,]',
  '{,}',
  '{"a":1,}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  "{'a':1}",
  '[1 2]',
  '{"a":1 "b":2}',
  '[',
  '{',
  '"',
  '"\\',
  '"\\x"',
  '"\\u12"',
  '"\\u12g4"',
  '"\n"',
  '"\u0000"',
  '"\u001f"',
  '1 2',
  '[]]',
  '\ufeff1',
  '\u00a01',
  '//1',
  '/**/1',
  'undefined',
  '\u2028',
  '"a',
  "'a'",
  '{"a":1}}',
  '[1]x',
]

describe('the same as JSON.parse', () => {
  it('[H-GEN-12] for every value, however it is spaced', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.constantFrom(0, 1, '\t', ' \n'),
        (value, space) => {
          const text = JSON.stringify(value, null, space)
          expect(jsonOf(text)).toEqual(exact(JSON.parse(text)))
        },
      ),
    )
  })

  it('[H-GEN-12] for texts that are nearly JSON', () => {
    const unit = fc.constantFrom(...'{}[]:,"\\ \t\n\u000b\u00a0\ufeff0123456789-+.eEtruefalsn/u\'')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12, size: 'max' }), (text) => {
        const expected = parsed(text)
        // Numbers beyond all doubles are refused here and Infinity there.
        fc.pre(typeof expected !== 'number' || Number.isFinite(expected))
        // 4e17 is no integer literal, so here it stays a number, and is 64 bits wide all the same.
        expect(exact(read(text))).toEqual(exact(expected))
      }),
      { numRuns: 5000 },
    )
  })

  it('[H-GEN-12] for one broken character anywhere', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (text, at, other) => {
          const place = at % Math.max(1, text.length)
          const broken = text.slice(0, place) + other + text.slice(place + 1)
          const ours = read(broken)
          if (ours === refused && parsed(broken) !== refused) {
            expect(broken).toMatch(/\\u[dD][89a-fA-F]|[eE]/)
          } else if (parsed(broken) === refused) expect(ours).toBe(refused)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it.each(broken)('[H-GEN-12] refuses %j', (text) => {
    expect(parsed(text)).toBe(refused)
    expect(() => readJson(text)).toThrow(JsonRefusal)
  })

  it.each([
    '"\u007f"',
    '"\u2028"',
    '"\ufeff"',
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '\t\r\n 1 \t\r\n',
    ' { "a" \t: \n[ ] , "b"\r\n:{ \r\n} , "c" : [ 1 , { } ] } ',
    '-0',
    '1E5',
    '1e-400',
    '"\\u0000"',
  ])('[H-GEN-12] takes %j', (text) => {
    expect(jsonOf(text)).toEqual(text === '-0' ? 0 : JSON.parse(text))
  })
})

describe('numbers', () => {
  it('[H-GEN-15] [H-GEN-16] keep every integer of 64 bits exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (integer) => {
        const value = jsonOf(`[${integer}]`)
        const [read] = Array.isArray(value) ? value : []
        expect(typeof read).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'bigint')
        expect(BigInt(String(read))).toBe(integer)
      }),
    )
  })

  it.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['100000000000000000000', 1e20],
    ['0', 0],
    ['1.5', 1.5],
    ['0.1e1', 1],
  ])('[H-GEN-16] reads %s as %s', (text, value) => {
    expect(jsonOf(text)).toBe(value)
  })

  it('[H-GEN-16] keep other numbers as the nearest double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        fc.pre(!Number.isInteger(number) || Number.isSafeInteger(number))
        expect(jsonOf(String(number))).toBe(number === 0 ? 0 : number)
      }),
    )
  })

  it.each(['1e400', '-1e400', '9'.repeat(400)])(
    '[H-GEN-16] refuse %s, which no double is near',
    (text) => {
      expect(() => readJson(text)).toThrow('has a number out of range')
    },
  )
})

describe('depth', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const objects = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`

  it('[H-GEN-12] is at most 64 levels', () => {
    expect(() => readJson(nested(64))).not.toThrow()
    expect(() => readJson(objects(64))).not.toThrow()
    for (const text of [nested(65), objects(65), '['.repeat(100_000)]) {
      expect(() => readJson(text)).toThrow('is more than 64 levels deep')
    }
  })

  it('[H-GEN-12] counts what is open, not what has been', () => {
    expect(() => readJson(`[${nested(63)},${nested(63)},${objects(63)}]`)).not.toThrow()
  })
})

describe('surrogates', () => {
  it.each([
    '"\\ud800"',
    '"\\udfff"',
    '"\\ud800x"',
    '"\\udc00\\ud800"',
    '"\\ud83d\\ud83d\\ude00"',
    '{"\\ud800":1}',
    '["\\ud800"]',
  ])('[H-GEN-12] unpaired ones are refused: %s', (text) => {
    expect(() => readJson(text)).toThrow('has an unpaired surrogate')
  })

  it('[H-GEN-12] pairs are one character', () => {
    expect(jsonOf('"\\ud83d\\ude00\\uD83D\\uDE00😀"')).toBe('😀😀😀')
  })
})

describe('names', () => {
  it('[H-GEN-13] __proto__ and constructor are ordinary', () => {
    const value = jsonOf(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"toString":2}',
    )
    expect(Object.keys(Object(value))).toEqual(['__proto__', 'constructor', 'toString'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('[H-GEN-13] repeated ones are reported, with the place, and the last one wins', () => {
    const { value, oddities } = readJson('{"a":1,"b":[{"c":1,"c":2}],"a":3,"\\u0061":4}')
    expect(value).toEqual({ a: 4, b: [{ c: 2 }] })
    expect(oddities).toEqual([
      { kind: 'repeated name', path: ['b', 0, 'c'] },
      { kind: 'repeated name', path: ['a'] },
      { kind: 'repeated name', path: ['a'] },
    ])
  })

  it('[H-GEN-13] of different objects do not repeat each other, nor what every object inherits', () => {
    const text = '[{"a":1},{"a":1},{"toString":1,"hasOwnProperty":1,"__proto__":1}]'
    expect(readJson(text).oddities).toEqual([])
    expect(readJson('{"__proto__":1,"__proto__":2}').oddities).toHaveLength(1)
  })
})

describe('integer literals', () => {
  it.each(['1.0', '1e2', '1E+2', '-0.0', '10e-1', '0e5'])(
    '[H-GEN-15] whole numbers written as %s are reported',
    (text) => {
      expect(readJson(`{"a":[${text}]}`).oddities).toEqual([
        { kind: 'not an integer literal', path: ['a', 0] },
      ])
    },
  )

  it.each(['1', '-1', '0', '1.5', '15e-1', '9223372036854775807'])(
    '[H-GEN-15] %s is none of them',
    (text) => {
      expect(readJson(text).oddities).toEqual([])
    },
  )
})

/** What `JSON.parse` has rounded, from the digits that `JSON.stringify` would write; no minus zero. */
function exact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exact)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]))
  }
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value === 0 ? 0 : value
  if (!/^-?\d+$/.test(String(value))) return value
  const integer = BigInt(String(value))
  return BigInt.asIntN(64, integer) === integer ? integer : value
}
