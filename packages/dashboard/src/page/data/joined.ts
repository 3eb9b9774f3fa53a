import type { InfiniteData } from '@tanstack/react-query'
import type { Page } from './pages.ts'

/** How a list is followed. */
export type Follow<Row> = {
  /** What distinguishes a row. */
  key(row: Row): string
  /** What it is now, of rows that change. */
  state?(row: Row): string
}

export type Pages<Row, Cursor> = InfiniteData<Page<Row, Cursor>, Cursor | undefined>

/** The row as it is now. */
function versionOf<Row>({ key, state }: Follow<Row>, row: Row): string {
  return JSON.stringify([key(row), state?.(row)])
}

/** The rows of the newest page that the list has not, or not as they are now. */
export function freshRows<Row>(
  rows: readonly Row[],
  newest: readonly Row[],
  follow: Follow<Row>,
): readonly Row[] {
  const known = new Set(rows.map((row) => versionOf(follow, row)))
  return newest.filter((row) => !known.has(versionOf(follow, row)))
}

/**
 * Rows that change once each: where a list is read by offset, what comes on top moves the pages
 * below. Of others two may be the same in all they say, as in the audit trail.
 */
export function eachOnce<Row>(rows: readonly Row[], { key, state }: Follow<Row>): readonly Row[] {
  if (state === undefined) return rows
  const seen = new Set<string>()
  return rows.filter((row) => seen.size < seen.add(key(row)).size)
}

/**
 * One page is what is newest now. Of more of them stays what is behind it, if they meet at a row
 * that is what it was.
 */
export function joined<Row, Cursor>(
  before: Pages<Row, Cursor>,
  newest: Page<Row, Cursor>,
  follow: Follow<Row>,
): Pages<Row, Cursor> {
  const { pages, pageParams } = before
  const [first, ...others] = pages
  const now = new Set(newest.items.map((row) => versionOf(follow, row)))
  const rows = pages.flatMap(({ items }) => items)
  const meets = rows.findLast((row) => now.has(versionOf(follow, row)))
  if (first === undefined || others.length === 0 || meets === undefined) {
    return { pages: [newest], pageParams: [undefined] }
  }
  const keys = new Set(newest.items.map(follow.key))
  const above = new Set(rows.slice(0, rows.lastIndexOf(meets) + 1))
  const behind = (page: Page<Row, Cursor>) =>
    page.items.filter((row) => !above.has(row) && !keys.has(follow.key(row)))
  return {
    pages: [
      { ...first, items: [...newest.items, ...behind(first)] },
      ...others.map((page) => ({ ...page, items: behind(page) })),
    ],
    pageParams,
  }
}
