import { parseExact } from '@guildhall/client/console'
import { int64Max, int64Min } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { diffLines, withContext } from './diff.ts'
import { jsonPages, jsonText, placeOf } from './json.ts'
import { namedParts, textParts } from './text.ts'
import {
  bytesText,
  counted,
  duration,
  exactTime,
  grouped,
  inputTime,
  localTime,
  readInputTime,
  relativeTime,
} from './time.ts'

describe('JSON for people', () => {
  it('[H-GEN-15] keeps all 64 bits, in one line and on pages', () => {
    const value = { low: int64Min, high: int64Max, list: [1, [], {}, null, 'a"b'] }
    expect(parseExact(jsonText(value))).toEqual(value)
    expect(parseExact(jsonPages(value))).toEqual(value)
    expect(jsonPages({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}')
  })

  it('writes what JSON writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonText(value)).toBe(JSON.stringify(value))
        expect(jsonPages(value)).toBe(JSON.stringify(value, null, 2))
      }),
    )
  })

  it('says where it is broken', () => {
    const text = '{\n  "a": 1,\n  b\n}'
    const broken = () => JSON.parse(text)
    let error: unknown
    try {
      broken()
    } catch (thrown) {
      error = thrown
    }
    expect(placeOf(error, text)).toBe('This is not JSON: line 3, column 3.')
  })
})

describe('differences', () => {
  it('lead from one text to the other', () => {
    const line = fc.constantFrom('a', 'b', 'c', 'd')
    fc.assert(
      fc.property(fc.array(line), fc.array(line), (before, after) => {
        const lines = diffLines(before.join('\n'), after.join('\n'))
        const without = (kind: string) =>
          lines.filter((one) => one.kind !== kind).map(({ text }) => text)
        expect(without('new').join('\n')).toBe(before.join('\n'))
        expect(without('gone').join('\n')).toBe(after.join('\n'))
      }),
    )
  })

  it('leave out what is far from any change', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const lines = withContext(diffLines(before.join('\n'), before.with(10, 'new').join('\n')))
    expect(lines).toHaveLength(10)
    expect([lines[0], lines.at(-1)]).toEqual(['left out', 'left out'])
    expect(lines).toContainEqual({ kind: 'new', text: 'new' })
  })
})

describe('stored text', () => {
  it('shows letters that nobody sees, or that turn others, by their number', () => {
    expect(textParts('abc\u202Edef')).toEqual([
      { kind: 'plain', text: 'abc' },
      { kind: 'unseen', text: 'U+202E' },
      { kind: 'plain', text: 'def' },
    ])
    expect(textParts('\u0000\u200B')).toEqual([
      { kind: 'unseen', text: 'U+0000' },
      { kind: 'unseen', text: 'U+200B' },
    ])
  })

  it('[H-OPS-1] has the accounts that it names apart', () => {
    const id = `user-${'0a'.repeat(16)}`
    expect(namedParts(`account ${id}`)).toEqual([
      { kind: 'text', text: 'account ' },
      { kind: 'account', text: id },
    ])
    expect(namedParts(`${id}/${id}`).map(({ kind }) => kind)).toEqual([
      'account',
      'text',
      'account',
    ])
    for (const other of ['user-1', `${id}0`, `x${id}`]) {
      expect(namedParts(other)).toEqual([{ kind: 'text', text: other }])
    }
    expect(namedParts('')).toEqual([])
    const many = namedParts(`${id} `.repeat(300))
    expect(many.filter(({ kind }) => kind === 'account')).toHaveLength(200)
    expect(many.map(({ text }) => text).join('')).toBe(`${id} `.repeat(300))
  })

  it('leaves lines, emoji and other writings alone', () => {
    for (const text of ['two\nlines', '👩‍👧', 'שלום', '<b>bold</b>']) {
      expect(textParts(text)).toHaveLength(1)
      expect(textParts(text)[0]?.kind).toBe('plain')
    }
  })
})

describe('times', () => {
  const now = Date.UTC(2026, 10, 22, 12)

  it.each([
    [now, 'now'],
    [now - 5_000, '5 sec. ago'],
    [now + 3_600_000, 'in 1 hr.'],
    [now - 90 * 86_400_000, '2 mo. ago'],
    [0, '1970-01-01'],
    [Date.UTC(2262, 3, 11), '2262-04-11'],
    [Number.MAX_SAFE_INTEGER, 'beyond all dates'],
  ])('%s is %s', (at, words) => {
    expect(relativeTime(at, now)).toBe(words)
  })

  it('are exact at both ends', () => {
    expect(exactTime(0)).toBe('1970-01-01T00:00:00.000Z')
    expect(exactTime(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991 ms')
    expect(localTime(Number.MAX_SAFE_INTEGER)).toBe('beyond all dates')
  })

  it.each([
    ['America/St_Johns', '2026-11-22T08:30:00.000-03:30'],
    ['Asia/Kolkata', '2026-11-22T17:30:00.000+05:30'],
    ['UTC', '2026-11-22T12:00:00.000+00:00'],
  ])('are of UTC or of this place, e.g. %s, and typed as they are shown', (zone, local) => {
    vi.stubEnv('TZ', zone)
    expect([exactTime(now, 'UTC'), exactTime(now, 'local')]).toEqual([
      '2026-11-22T12:00:00.000Z',
      local,
    ])
    for (const clock of ['UTC', 'local'] as const) {
      expect(readInputTime(inputTime(now, clock), clock)).toBe(now)
    }
    expect(readInputTime('2026-11-22T12:00', 'UTC')).toBe(now)
    expect(readInputTime('', 'UTC')).toBeUndefined()
    vi.unstubAllEnvs()
  })

  it('and sizes and counts are short', () => {
    expect([duration(500), duration(7_500_000), duration(86_400_000)]).toEqual([
      '500 ms',
      '2 h 5 min',
      '1 d',
    ])
    expect([bytesText(0), bytesText(999), bytesText(1_500_000)]).toEqual(['0 B', '999 B', '1.5 MB'])
    expect([counted(1, 'line'), counted(2_000, 'line')]).toEqual(['1 line', '2,000 lines'])
    expect(grouped(int64Min)).toBe('-9,223,372,036,854,775,808')
  })
})
