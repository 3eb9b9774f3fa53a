import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './chain.ts'

describe('canonical JSON', () => {
  it('[O-AUD-2] sorts the keys and keeps nulls', () => {
    expect(canonicalJson({ b: null, a: 1, B: 'ä"\n' })).toBe('{"B":"ä\\"\\n","a":1,"b":null}')
  })

  it('[O-AUD-2] leaves no field out, whatever its name', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":"p","10":1,"9":2}'))).toBe(
      '{"10":1,"9":2,"__proto__":"p"}',
    )
  })

  it('[O-AUD-2] is one text for one row, whatever the order of its fields', async () => {
    const field = fc.oneof(fc.string(), fc.integer(), fc.constant(null))
    await fc.assert(
      fc.property(fc.dictionary(fc.string(), field), (row) => {
        const turned = Object.fromEntries(Object.entries(row).reverse())
        expect(canonicalJson(turned)).toBe(canonicalJson(row))
        expect(JSON.parse(canonicalJson(row))).toEqual({ ...row })
      }),
    )
  })
})
