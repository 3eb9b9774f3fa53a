import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fits, parseQuery, type Values } from './query.ts'

const properties: { [name: string]: unknown } = {
  region: 'eu',
  rating: 1200,
  flag: true,
  'a.b': 'dot',
  __proto__x: 1,
}
const read = (field: string) => (Object.hasOwn(properties, field) ? properties[field] : undefined)
const accepts = (text: string) => meaning(text, { get: read })

/** Undefined for what is no query. */
function meaning(text: string, values: Values): boolean | undefined {
  const query = parseQuery(text)
  return 'problem' in query ? undefined : fits(query, values)
}

describe('the grammar', () => {
  test.each([
    ['', true],
    [' \t\r\n', true],
    ['region == "eu"', true],
    ["region=='eu'", true],
    ['region != "us"', true],
    ['region == "us" OR rating > 1199.5', true],
    ['region == "us" or rating > 1199.5 and rating < 1200', false],
    ['(region == "us" or rating > 1199.5) AND rating <= 1.2e3', true],
    ['region=="eu"AND(rating>=1200)', true],
    ['a.b == "dot"', true],
    ['rating == "1200"', false],
    ['rating != "1200"', false],
    ['missing != 1', false],
    ['flag != 1', false],
    ["region == 'e\"u'", false],
    ['region == "\\"', false],
    ['rating >= -1200', true],
    ['__proto__ == 1', false],
    ['constructor != "x"', false],
    ['AND_ == 1', false],
  ])('[R-MM-5] %s is understood', (text, expected) => {
    expect(accepts(text)).toBe(expected)
  })

  test.each([
    'region',
    'region ==',
    '== "eu"',
    'region = "eu"',
    'region === "eu"',
    'region == eu',
    'region < "eu"',
    'region == "eu',
    'region == "eu\'',
    'rating == 5AND region == "eu"',
    'rating == 1e999',
    'rating == 01',
    'rating == +1',
    'rating == .5',
    'rating == 1.',
    'rating == NaN',
    'rating == true',
    '()',
    '(rating == 1',
    'rating == 1)',
    'rating == 1 AND',
    'OR rating == 1',
    'rating == 1 rating == 2',
    'and == 1',
    'Or == 1',
    '1 == rating',
    'ra-ting == 1',
    'rating == 1;',
    `${'x'.repeat(65)} == 1`,
    `region == "${'é'.repeat(129)}"`,
    'räting == 1',
    'rating\u00a0== 1',
  ])('[R-MM-5] %s is an invalid query', (text) => {
    expect(parseQuery(text)).toEqual({ problem: expect.any(String) })
  })

  test('[R-MM-5] bounds: 1,024 bytes, 32 comparisons, 16 levels, names of 64, texts of 256', () => {
    const padded = (bytes: number) => 'rating == 1200'.padEnd(bytes)
    expect([accepts(padded(1024)), accepts(padded(1025))]).toEqual([true, undefined])
    const many = (count: number) => Array(count).fill('rating > 0').join(' AND ')
    expect([accepts(many(32)), accepts(many(33))]).toEqual([true, undefined])
    const deep = (levels: number) => `${'('.repeat(levels)}rating > 0${')'.repeat(levels)}`
    expect([accepts(deep(16)), accepts(deep(17))]).toEqual([true, undefined])
    expect(accepts(`${'x'.repeat(64)} == 1`)).toBe(false)
    expect(accepts(`region == "${'é'.repeat(128)}"`)).toBe(false)
  })
})

test.each([
  ['a =', 'there is no sign, name, number or text at character 3'],
  ['rating ==', 'a number or a text in quotes is expected at character 10'],
  ['rating 1200', 'a comparison such as == is expected at character 8'],
  ['a == 1 b == 2', 'AND or OR is expected at character 8'],
  ['(a == 1', 'a parenthesis that closes is expected at character 8'],
  ['a == 1 AND  OR b == 2', 'the name of a property is expected at character 13'],
  ['mode < "duel"', 'texts are compared with == and != only at character 8'],
  ['a == "x', 'there is no sign, name, number or text at character 6'],
  [`${'('.repeat(17)}a == 1`, 'there are more than 16 levels at character 18'],
  [Array(33).fill('a > 0').join(' OR '), 'there are more than 32 comparisons'],
  [' '.repeat(1025), 'it is longer than 1024 bytes'],
])('[R-MM-5] of %s it says where and why it is no query', (text, problem) => {
  expect(parseQuery(text)).toEqual({ problem })
})

type Node =
  | { type: 'compare'; field: string; comparison: string; literal: string | number }
  | { type: 'and'; parts: Node[] }
  | { type: 'or'; parts: Node[] }

const names = ['region', 'rating', 'mode', 'x.y', '_z']
const literal = fc.oneof(
  fc.constantFrom(-1, 0, 1, 1.5, 1200),
  fc.constantFrom('', 'eu', 'us', 'e u', 'AND', '('),
)
const comparison = fc
  .tuple(fc.constantFrom('==', '!=', '<', '<=', '>', '>='), literal)
  .filter(([sign, value]) => typeof value === 'number' || sign === '==' || sign === '!=')
const nodes = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.tuple(fc.constantFrom(...names), comparison).map(([field, [sign, value]]) => ({
      type: 'compare' as const,
      field,
      comparison: sign,
      literal: value,
    })),
    fc.record({
      type: fc.constantFrom('and' as const, 'or' as const),
      parts: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    }),
  ),
})).node

/** The meaning of a query, written once more in another way. */
function evaluate(node: Node, values: Map<string, unknown>): boolean {
  if (node.type !== 'compare') {
    const met = node.parts.filter((part) => evaluate(part, values)).length
    return node.type === 'and' ? met === node.parts.length : met > 0
  }
  const { field, literal: right } = node
  const left = values.get(field)
  if (typeof left === 'number' && typeof right === 'number') {
    const order = Math.sign(left - right)
    const wanted = { '==': [0], '!=': [-1, 1], '<': [-1], '<=': [-1, 0], '>': [1], '>=': [0, 1] }
    return wanted[node.comparison as keyof typeof wanted].includes(order)
  }
  if (typeof left !== 'string' || typeof right !== 'string') return false
  return (left.localeCompare(right) === 0) === (node.comparison === '==')
}

/** Writes it with blanks as the numbers say. */
function write(node: Node, blanks: () => string): string {
  if (node.type === 'compare') {
    const { field, comparison: sign, literal: value } = node
    const text = typeof value === 'number' ? JSON.stringify(value) : `'${value}'`
    return `${blanks()}${field}${blanks()}${sign}${blanks()}${text}${blanks()}`
  }
  const inner = node.parts.map((part) => `(${write(part, blanks)})`)
  return inner.join(`${blanks()}${node.type}${blanks()}`)
}

test('[R-MM-5] a query means what a second evaluator says', () => {
  const values = fc
    .dictionary(fc.constantFrom(...names), fc.oneof(literal, fc.boolean(), fc.constant(null)))
    .map((found) => new Map(Object.entries(found)))
  const spaces = fc.array(fc.constantFrom('', ' ', '\t', '\r\n '), { minLength: 7, maxLength: 7 })
  fc.assert(
    fc.property(nodes, values, spaces, (node, found, given) => {
      let used = 0
      const text = write(node, () => given[used++ % given.length] ?? '')
      if (text.length > 1024 || text.split(/==|!=|[<>]/).length > 33) return
      expect(meaning(text, found)).toBe(evaluate(node, found))
    }),
    { numRuns: 500 },
  )
})

test('[R-MM-5] no text makes the parser throw', () => {
  const pieces = fc.constantFrom(
    'a',
    '(',
    ')',
    '==',
    '<',
    '"x"',
    "'",
    '1',
    '-',
    ' AND ',
    ' or ',
    '',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }), (parts) => {
      const query = parseQuery(parts.join(''))
      expect(typeof meaning(parts.join(''), { get: () => 1 })).toBe(
        'problem' in query ? 'undefined' : 'boolean',
      )
    }),
  )
})
