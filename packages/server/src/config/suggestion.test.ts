import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editDistance, suggest } from './suggestion.ts'

describe('the edit distance', () => {
  it.each([
    ['', '', 0],
    ['bind', 'bind', 0],
    ['bnd', 'bind', 1],
    ['binds', 'bind', 1],
    ['bond', 'bind', 1],
    ['ibnd', 'bind', 1],
    ['bidn', 'bind', 1],
    ['ab', 'ba', 1],
    ['abcd', 'badc', 2],
    ['kitten', 'sitting', 3],
    ['', 'bind', 4],
  ])('[O-CFG-4] from %j to %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
  })

  it('[O-CFG-4] is symmetric, zero for equals only, and at most the longer length', () => {
    const word = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', '.', '_') })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const distance = editDistance(a, b)
        expect(editDistance(b, a)).toBe(distance)
        expect(distance === 0).toBe(a === b)
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
      }),
    )
  })
})

describe('a suggestion', () => {
  const known = ['http.bind', 'http.openapi', 'metrics.bind', 'rooms.max_rooms', 'room.max_rooms']

  it.each([
    ['http.bnd', 'http.bind'],
    ['htpp.bind', 'http.bind'],
    ['metric.bind', 'metrics.bind'],
    ['rooms.mx_rooms', 'rooms.max_rooms'],
    ['http.certificate', undefined],
    ['x', undefined],
    ['', undefined],
  ])('[O-CFG-4] for %j is %j', (typed, expected) => {
    expect(suggest(typed, known)).toBe(expected)
  })

  it('[O-CFG-4] prefers the own section even when another one is nearer', () => {
    expect(suggest('aaaa.bcd', ['aaab.bcd', 'aaaa.bxx'])).toBe('aaaa.bxx')
  })

  it('[O-CFG-4] is given at exactly a third of the length and not beyond it', () => {
    expect(suggest('abcdef', ['abcdxy'])).toBe('abcdxy')
    expect(suggest('abcdef', ['abcxyz'])).toBeUndefined()
    expect(suggest('abcde', ['abcxy'])).toBeUndefined()
  })
})
