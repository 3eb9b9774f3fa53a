import { describe, expect, it } from 'vitest'
import { eachOnce, type Follow, freshRows, joined } from './joined.ts'

type Row = { id: number; is?: string }

const follow: Follow<Row> = { key: ({ id }) => String(id), state: ({ is = '' }) => is }

function rowsOf(...ids: (number | string)[]): Row[] {
  return ids.map((id) => (typeof id === 'number' ? { id } : { id: Number(id.slice(1)), is: 'x' }))
}

/** The ids of each page behind those that are newest; `x` before one that is another by now. */
function after(newest: Row[], ...pages: Row[][]) {
  const before = { pages: pages.map((items) => ({ items })), pageParams: pages.map(() => 'p') }
  const { pages: now, pageParams } = joined(before, { items: newest }, follow)
  expect(pageParams).toHaveLength(now.length)
  return now.map(({ items }) => items.map(({ id, is }) => (is === undefined ? id : `x${id}`)))
}

describe('a list that follows', () => {
  it('has new rows on top, and those behind them as they were', () => {
    const pages = [rowsOf(6, 5, 4), rowsOf(3, 2, 1)]
    expect(after(rowsOf(8, 7, 6), ...pages)).toEqual([
      [8, 7, 6, 5, 4],
      [3, 2, 1],
    ])
    expect(freshRows(pages.flat(), rowsOf(8, 7, 6), follow)).toEqual(rowsOf(8, 7))
  })

  it('has a row that changed in its place, once', () => {
    const pages = [rowsOf(6, 5, 4), rowsOf(3, 2, 1)]
    expect(after(rowsOf(6, 'x5', 4), ...pages)).toEqual([
      [6, 'x5', 4],
      [3, 2, 1],
    ])
    expect(freshRows(pages.flat(), rowsOf(6, 'x5', 4), follow)).toEqual(rowsOf('x5'))
    // The last one of the newest page is another.
    expect(after(rowsOf(6, 5, 'x4'), ...pages)).toEqual([
      [6, 5, 'x4'],
      [3, 2, 1],
    ])
  })

  it('has a row that moved to the top nowhere else', () => {
    expect(after(rowsOf('x2', 6, 5), rowsOf(6, 5, 4), rowsOf(3, 2, 1))).toEqual([
      ['x2', 6, 5, 4],
      [3, 1],
    ])
  })

  it('has no row that is gone from what is newest', () => {
    expect(after(rowsOf(7, 6, 4), rowsOf(6, 5, 4), rowsOf(3, 2, 1))).toEqual([
      [7, 6, 4],
      [3, 2, 1],
    ])
  })

  it('begins anew where the two do not meet, and where it has one page', () => {
    expect(after(rowsOf(9, 8), rowsOf(6, 5), rowsOf(4, 3))).toEqual([[9, 8]])
    expect(after(rowsOf('x6', 'x5'), rowsOf(6, 5), rowsOf(4, 3))).toEqual([['x6', 'x5']])
    expect(after(rowsOf(7, 6), rowsOf(6, 5))).toEqual([[7, 6]])
  })

  it('has a row once that two pages have', () => {
    expect(eachOnce(rowsOf(3, 2, 'x2', 1), follow)).toEqual(rowsOf(3, 2, 1))
    expect(eachOnce(rowsOf(2, 2), { key: follow.key })).toEqual(rowsOf(2, 2))
  })
})
