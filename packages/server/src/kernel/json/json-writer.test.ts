import { int64Max, int64Min, walletApi } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readJson } from './json-reader.ts'
import { compileWriter } from './json-writer.ts'

const free = z.custom<object>((value) => typeof value === 'object').meta({ free: true })

describe('the output filter', () => {
  it('[H-GEN-1] lets declared members out only, at every depth', () => {
    const write = compileWriter(
      z.strictObject({
        id: z.string(),
        inner: z.strictObject({ shown: z.int() }),
        list: z.array(z.strictObject({ shown: z.int() })),
        map: z.record(z.string(), z.strictObject({ shown: z.int() })),
        maybe: z.strictObject({ shown: z.int() }).nullable(),
      }),
    )
    const secret = { shown: 1, verifier: 'SECRET' }
    const row = {
      id: 'a',
      inner: secret,
      list: [secret],
      map: { x: secret },
      maybe: secret,
      token: 'SECRET',
    }
    expect(JSON.parse(String(write(row)))).toEqual({
      id: 'a',
      inner: { shown: 1 },
      list: [{ shown: 1 }],
      map: { x: { shown: 1 } },
      maybe: { shown: 1 },
    })
  })

  it('[H-GEN-1] writes no object where a text, a number, a literal or a list is declared', () => {
    const leak = { verifier: 'SECRET' }
    for (const schema of [
      z.string(),
      z.int(),
      z.boolean(),
      z.literal('live'),
      z.enum(['a']),
      z.array(z.string()),
    ]) {
      expect(() => compileWriter(schema)(leak)).toThrow(TypeError)
    }
    expect(() => compileWriter(z.literal('live'))('dead')).toThrow(TypeError)
    expect(() => compileWriter(z.strictObject({ a: z.string() }))(['SECRET'])).toThrow(TypeError)
    expect(() => compileWriter(z.array(z.string()))('SECRET')).toThrow(TypeError)
  })

  it('[H-GEN-1] throws for a missing member and for null where none is declared', () => {
    const write = compileWriter(
      z.strictObject({ a: z.string(), b: z.string().nullable(), c: z.string().optional() }),
    )
    expect(write({ a: 'x', b: null })).toBe('{"a":"x","b":null}')
    expect(() => write({ b: null })).toThrow('misses its member a')
    expect(() => write({ a: 'x' })).toThrow('misses its member b')
    expect(() => write({ a: null, b: null })).toThrow(TypeError)
    expect(() => write({ a: 'x', b: 'x', c: null })).toThrow(TypeError)
    expect(() => write(undefined)).toThrow(TypeError)
    expect(() => write(null)).toThrow(TypeError)
  })

  it('[H-GEN-1] chooses the option of a union that the whole value fits', () => {
    const write = compileWriter(
      z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.int(), c: z.int() })]),
    )
    expect(write({ b: 1, c: 2 })).toBe('{"b":1,"c":2}')
    expect(() => write({ b: 1 })).toThrow(TypeError)
    expect(() => write({ a: 'x', secret: 'SECRET' })).toThrow(TypeError)
  })

  it('refuses to compile a schema that it could not write', () => {
    expect(() => compileWriter(z.date())).toThrow('no writer')
    expect(() => compileWriter(z.strictObject({ a: z.unknown() }))).toThrow('no writer')
  })
})

describe('numbers', () => {
  it('[H-GEN-15] writes 64 bits in full, whether as number or as bigint', () => {
    const write = compileWriter(z.strictObject({ score: z.int() }))
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (score) => {
        expect(write({ score })).toBe(`{"score":${score}}`)
      }),
    )
    expect(write({ score: -0 })).toBe('{"score":0}')
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined])(
    '[H-GEN-1] throws for %s',
    (score) => {
      expect(() => compileWriter(z.int())(score)).toThrow(TypeError)
    },
  )
})

describe('what it writes', () => {
  it('[H-GEN-16] reads back as the same value, for free objects', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false),
        fc.string({ unit: 'grapheme' }),
        fc.string(),
        int64.map((exact) => (Number.isSafeInteger(Number(exact)) ? Number(exact) : exact)),
        fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
        fc.array(tie('json')),
        fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '')),
          tie('json'),
        ),
      ),
    }))
    const write = compileWriter(z.strictObject({ metadata: free }))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (metadata) => {
        const text = write({ metadata })
        expect(readJson(String(text)).value).toEqual({ metadata })
      }),
    )
  })

  it('[H-GEN-15] has all digits of 64-bit integers, also by name, and takes nothing else', () => {
    const write = compileWriter(walletApi.get.ok)
    const int64 = fc.bigInt({ min: int64Min, max: int64Max })
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.string(), int64), { selector: ([x]) => x }), (all) => {
        const members = all.map(([name, value]) => `${JSON.stringify(name)}:${value}`)
        const text = `{"balances":{${members.join(',')}},"ledger":[]}`
        expect(write({ balances: new Map(all), ledger: [] })).toBe(text)
      }),
    )
    for (const wrong of ['1', Number.NaN, null, { verifier: 'SECRET' }]) {
      expect(() => write({ balances: { gold: wrong }, ledger: [] })).toThrow(TypeError)
    }
  })

  it('[H-GEN-1] keeps the order of a Map, also of names that look like numbers', () => {
    const balances = new Map([
      ['b', 1n],
      ['10', 2n],
      ['9', 3n],
      ['__proto__', 4n],
    ])
    const text = compileWriter(walletApi.get.ok)({ balances, ledger: [] })
    expect(text).toBe('{"balances":{"b":1,"10":2,"9":3,"__proto__":4},"ledger":[]}')
  })

  it('[H-GEN-12] is JSON for every text, unpaired surrogates included', () => {
    const write = compileWriter(z.strictObject({ name: z.string(), list: z.array(z.string()) }))
    const unit = fc.constantFrom(
      '"',
      '\\',
      '\u0000',
      '\u001f',
      '\u2028',
      '\ud800',
      '\udc00',
      'é',
      '😀',
    )
    fc.assert(
      fc.property(fc.string({ unit }), fc.array(fc.string({ unit })), (name, list) => {
        const text = String(write({ name, list }))
        expect(text).toBe(JSON.stringify({ name, list }))
        expect(text.isWellFormed()).toBe(true)
      }),
    )
  })

  it('[H-GEN-16] keeps members named __proto__ in free objects', () => {
    const { value } = readJson('{"metadata":{"__proto__":{"a":1}}}')
    expect(compileWriter(z.strictObject({ metadata: free }))(value)).toBe(
      '{"metadata":{"__proto__":{"a":1}}}',
    )
  })
})
