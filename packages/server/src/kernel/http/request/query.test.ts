import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readQuery } from './query.ts'

const declared = new Set(['limit', 'filter'])
const read = (text: string) => readQuery(text, declared)

describe('readQuery', () => {
  it('[H-GEN-25] decodes what was encoded, in any order', () => {
    const value = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(value, value, fc.boolean(), (limit, filter, plus) => {
        const encode = (text: string) => {
          const encoded = encodeURIComponent(text)
          return plus ? encoded.replaceAll('%20', '+') : encoded
        }
        const pairs = [`filter=${encode(filter)}`, `limit=${encode(limit)}`]
        expect(read(pairs.join('&'))).toEqual({ limit, filter })
        expect(read(`&${pairs.reverse().join('&&')}&`)).toEqual({ limit, filter })
      }),
    )
  })

  it.each([
    ['', {}],
    ['&', {}],
    ['limit', { limit: '' }],
    ['limit=', { limit: '' }],
    ['filter==a=b', { filter: '=a=b' }],
    ['filter=a?b', { filter: 'a?b' }],
    ['%6Cimit=1', { limit: '1' }],
  ])('[H-GEN-25] reads "%s"', (text, values) => {
    expect(read(text)).toEqual(values)
  })

  it.each([
    ['nope=1', 'unknown query parameter'],
    ['=1', 'unknown query parameter'],
    ['Limit=1', 'unknown query parameter'],
    ['__proto__=1', 'unknown query parameter'],
    ['constructor=1', 'unknown query parameter'],
    ['limit=1&limit=1', 'query parameter limit is repeated'],
    ['limit=1&%6Cimit=2', 'query parameter limit is repeated'],
    ['limit=%', 'the query has a broken percent-encoding'],
    ['limit=%ff', 'the query has a broken percent-encoding'],
    ['%ff=1', 'the query has a broken percent-encoding'],
  ])('[H-GEN-25] refuses "%s"', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })
})
