import type { DatabaseCell } from '@guildhall/contract'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Cell, type Column } from './cell.tsx'

const drawn = (cell: DatabaseCell, column: Column) =>
  renderToStaticMarkup(createElement(Cell, { cell, column })).replace(/<[^>]*>/g, '')

it('digits of amounts are grouped, those of keys are not, and none is lost', () => {
  for (const [value, grouped] of [
    [1234567, '1,234,567'],
    [9223372036854775807n, '9,223,372,036,854,775,807'],
  ] as const) {
    const cell: DatabaseCell = { kind: 'integer', value }
    expect(drawn(cell, { name: 'amount', isKey: false })).toBe(grouped)
    expect(drawn(cell, { name: 'id', isKey: true })).toBe(String(value))
  }
})

it('[H-OPS-1] a name that somebody gave themselves is nobody else, whatever it looks like', () => {
  const value = `user-${'0'.repeat(32)}`
  for (const name of ['username', 'display_name', 'name']) {
    expect(drawn({ kind: 'text', value }, { name, isKey: true })).toBe(value)
  }
})
