import { describe, expect, it } from 'vitest'
import { excerpt } from './excerpt.ts'

const text = Array.from({ length: 12 }, (_, n) => `line ${n + 1}`).join('\n')
const files = [
  { path: 'main.ts', bytes: new TextEncoder().encode(text) },
  { path: 'lib/windows.ts', bytes: new TextEncoder().encode(`a\r\n${'b'.repeat(500)}\r\n\r\nd`) },
]

describe('[S-VIEW-3] the lines around a failure', () => {
  it.each([
    [
      'in the middle',
      9,
      ['   7 | line 7', '   8 | line 8', '>  9 | line 9', '  10 | line 10', '  11 | line 11'],
    ],
    ['at the start', 1, ['> 1 | line 1', '  2 | line 2', '  3 | line 3']],
    ['at the end', 12, ['  10 | line 10', '  11 | line 11', '> 12 | line 12']],
  ])('%s', (_, line, lines) => {
    expect(excerpt(files, 'main.ts', line)?.split('\n')).toEqual(lines)
  })

  it('are cut where they are long, and end without blanks', () => {
    const shown = excerpt(files, 'lib/windows.ts', 2)?.split('\n')
    expect(shown).toEqual(['  1 | a', `> 2 | ${'b'.repeat(160)}`, '  3 |', '  4 | d'])
  })

  it.each([
    ['of another file', 'other.ts', 1],
    ['before the first', 'main.ts', 0],
    ['behind the last', 'main.ts', 13],
    ['without a number', 'main.ts', undefined],
  ])('are none %s', (_, file, line) => {
    expect(excerpt(files, file, line)).toBeUndefined()
  })
})
