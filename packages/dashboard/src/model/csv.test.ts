import { expect, it } from 'vitest'
import { csvLine } from './csv.ts'

it('a line of CSV holds every text as one cell', () => {
  expect(csvLine(['plain', 'with, comma', 'a "quote"', 'two\nlines'])).toBe(
    'plain,"with, comma","a ""quote""","two\nlines"\r\n',
  )
  expect(csvLine([1, 9_223_372_036_854_775_807n, undefined, ['a:read', 'b:read']])).toBe(
    '1,9223372036854775807,,a:read b:read\r\n',
  )
})

it('a line of CSV holds nothing that a spreadsheet runs', () => {
  const widths = ['＝1+1', '＠SUM(A1)', '＋1', '－1']
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ...widths]) {
    expect(csvLine([text]).replaceAll('"', '').startsWith("'")).toBe(true)
  }
  // A sign alone is nothing to run: it is the role of what has none.
  expect(csvLine(['-', '+', ''])).toBe('-,+,\r\n')
  // Numbers are no texts, and a minus before them is their sign.
  expect(csvLine([-1])).toBe('-1\r\n')
})
