import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalTarget, hasEmptySegment, pathOf, queryOf } from './target.ts'

describe('canonicalTarget', () => {
  it.each([
    ['/a/b?c=%zz', '/a/b?c=%zz'],
    ['/%61/b', '/a/b'],
    ['/a%2fb', '/a%2Fb'],
    ['/%C3%a9', '/%C3%A9'],
    ['/a+b', '/a%2Bb'],
    ['http://h/a', '/a'],
    ['https://u:p@h:1/a?b', '/a?b'],
    ['http://h', '/'],
    ['http://h?a', '/?a'],
    ['*', '*'],
    ['/a?http://h/b', '/a?http://h/b'],
  ])('[H-GEN-23] writes %s as %s', (sent, canonical) => {
    expect(canonicalTarget(sent)).toBe(canonical)
  })

  it.each(['/%', '/%z0', '/%ff', '/a#b', '/a?b#c', `/${'x'.repeat(8192)}`])(
    '[H-GEN-23] has no form for %s',
    (sent) => {
      expect(canonicalTarget(sent)).toBeUndefined()
    },
  )

  it.each(['/a', '/%61'])('[H-GEN-5] has one up to 8 KiB and none beyond, after %s', (start) => {
    const longest = start.padEnd(8192, 'x')
    expect(canonicalTarget(longest)).toBe(`/a${'x'.repeat(8192 - start.length)}`)
    expect(canonicalTarget(`${longest}x`)).toBeUndefined()
  })

  it('[H-GEN-23] leaves a canonical target as it is, and loses no segment', () => {
    const segment = fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const canonical = canonicalTarget(`/${segments.map(encodeURIComponent).join('/')}`) ?? ''
        expect(canonicalTarget(canonical)).toBe(canonical)
        expect(pathOf(canonical).slice(1).split('/').map(decodeURIComponent)).toEqual(segments)
      }),
    )
  })
})

it('[H-GEN-23] parts path and query at the first question mark', () => {
  expect([pathOf('/a?b?c'), queryOf('/a?b?c')]).toEqual(['/a', 'b?c'])
  expect([pathOf('/a'), queryOf('/a')]).toEqual(['/a', ''])
  expect([pathOf('/a?'), queryOf('/a?')]).toEqual(['/a', ''])
})

it('[H-GEN-23] sees empty segments', () => {
  for (const path of ['//', '/a/', '/a//b', '//a']) expect(hasEmptySegment(path)).toBe(true)
  for (const path of ['/', '/a', '/a/b', '/%2F/a']) expect(hasEmptySegment(path)).toBe(false)
})
