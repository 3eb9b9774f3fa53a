import { expect, it } from 'vitest'
import { foldCase } from './fold-case.ts'

const letters = Array.from({ length: 0x1ffff }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

/** Regular expressions that ignore case compare by simple folding. */
function areAlike(letter: string, other: string): boolean {
  return new RegExp(`^\\u{${letter.codePointAt(0)?.toString(16)}}$`, 'iu').test(other)
}

it('[H-OPS-4] folds each letter to one that Unicode takes for the same', () => {
  const changed = letters.filter((letter) => foldCase(letter) !== letter)
  expect(changed.length).toBeGreaterThan(1300)
  expect(changed.filter((letter) => !areAlike(letter, foldCase(letter)))).toEqual([])
})

it('[H-OPS-4] folds letters that are the same to the same', () => {
  const apart = letters.flatMap((letter) =>
    [letter.toLowerCase(), letter.toUpperCase()]
      // A letter is like itself, which needs no expression of its own.
      .filter((other) => other !== letter && [...other].length === 1 && areAlike(letter, other))
      .filter((other) => foldCase(other) !== foldCase(letter))
      .map((other) => [letter, other]),
  )
  expect(apart).toEqual([])
})

it.each([
  ['Straße', 'straße'],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
  ['Ångström', 'ångström'],
  ['İı', 'İı'],
  ['𐐀', '𐐨'],
])('[H-OPS-4] %s is %s', (text, folded) => expect(foldCase(text)).toBe(folded))
