import type { Json, JsonObject } from '@guildhall/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalJson, compareUtf8, NotCanonical } from './canonical-json.ts'
import { readJson } from './json-reader.ts'

/** Names of every length of UTF-8, around the surrogates where UTF-16 sorts otherwise. */
const unit = fc.constantFrom(
  'a',
  'z',
  '\u0000',
  '\u007f',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '😀',
  '𐀀',
)
const name = fc.oneof(fc.string({ unit, maxLength: 4 }), fc.constantFrom('__proto__', '10', '9'))
const integers = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const scalar = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed()),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  integers,
  fc.boolean(),
  fc.constant(null),
)
const { object } = fc.letrec<{ json: Json; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('json'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(name, tie('json')), { maxLength: 5 }).map(objectOf),
}))

function objectOf(members: readonly (readonly [string, Json])[]): JsonObject {
  const made: JsonObject = {}
  for (const [name, value] of members) {
    Object.defineProperty(made, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return made
}

/** The same with the members of every level in the other order. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return objectOf(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, turned(member)] as const),
  )
}

/** Whole numbers are what their digits say, however they are held; -0 is 0. */
function sameKind(value: Json): unknown {
  if (Array.isArray(value)) return value.map(sameKind)
  if (typeof value === 'number') return /^-?[0-9]+$/.test(`${value}`) ? BigInt(`${value}`) : value
  if (typeof value !== 'object' || value === null) return value
  return new Map(Object.entries(value).map(([name, member]) => [name, sameKind(member)]))
}

it('[H-STO-5] [H-GEN-16] loses nothing of what it is the text of', () => {
  fc.assert(
    fc.property(object, (value) => {
      expect(sameKind(readJson(canonicalJson(value)).value)).toEqual(sameKind(value))
    }),
  )
  const scalars = { f: false, n: null, t: true, e: '', a: [], o: {}, z: 0 }
  expect(canonicalJson(scalars)).toBe('{"a":[],"e":"","f":false,"n":null,"o":{},"t":true,"z":0}')
})

it('[H-STO-5] is the same text however the members are ordered', () => {
  fc.assert(
    fc.property(object, (value) => {
      expect(canonicalJson(turned(value) as JsonObject)).toBe(canonicalJson(value))
    }),
  )
})

it('[H-STO-5] [H-GEN-16] is the text again of what is read from it', () => {
  fc.assert(
    fc.property(object, (value) => {
      const text = canonicalJson(value)
      expect(canonicalJson(readJson(text).value as JsonObject)).toBe(text)
      expect(readJson(text).oddities.filter(({ kind }) => kind === 'repeated name')).toEqual([])
    }),
  )
})

it('[H-STO-5] sorts members by the UTF-8 bytes of their names', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name), (names) => {
      const text = canonicalJson(objectOf(names.map((each) => [each, 1] as const)))
      const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      expect(text).toBe(`{${sorted.map((each) => `${JSON.stringify(each)}:1`).join(',')}}`)
    }),
  )
  expect(canonicalJson({ '😀': 1, '\uffff': 2, '\ue000': 3, a: 4 })).toBe(
    '{"a":4,"\ue000":3,"\uffff":2,"😀":1}',
  )
})

it('[H-GEN-22] compares texts as their UTF-8 bytes do', () => {
  fc.assert(
    fc.property(fc.string({ unit }), fc.string({ unit }), (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b))
      expect(Math.sign(compareUtf8(a, b))).toBe(expected)
    }),
  )
})

it('[H-STO-5] [H-GEN-16] writes numbers in their shortest form, and 64 bits in full', () => {
  const numbers: [literal: string, canonical: string][] = [
    ['1.0', '1'],
    ['1e2', '100'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0.10', '0.1'],
    ['1E21', '1e+21'],
    ['0.0000001', '1e-7'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775808', '9223372036854776000'],
  ]
  for (const [literal, canonical] of numbers) {
    const { value } = readJson(`{ "n" : ${literal} }`)
    expect(canonicalJson(value as JsonObject)).toBe(`{"n":${canonical}}`)
  }
  expect(canonicalJson({ s: '\u0000"\\/\u2028é\u007f', a: [true, null, {}] })).toBe(
    '{"a":[true,null,{}],"s":"\\u0000\\"\\\\/\u2028é\u007f"}',
  )
})

it('[H-GEN-12] [H-GEN-16] refuses what no JSON text may have', () => {
  const nested = (levels: number): JsonObject => (levels === 1 ? {} : { a: nested(levels - 1) })
  expect(canonicalJson(nested(64))).toHaveLength(2 + 63 * 6)
  const cycle: JsonObject = {}
  cycle.self = cycle
  const refused: JsonObject[] = [
    nested(65),
    cycle,
    { n: Number.NaN },
    { n: Number.POSITIVE_INFINITY },
    { n: 2n ** 63n },
    { n: -(2n ** 63n) - 1n },
    { s: '\ud800' },
    { '\udc00': 1 },
  ]
  for (const value of refused) expect(() => canonicalJson(value)).toThrow(NotCanonical)
  for (const member of [undefined, () => 1, Symbol('s')]) {
    expect(() => canonicalJson({ member } as unknown as JsonObject)).toThrow(NotCanonical)
  }
})
