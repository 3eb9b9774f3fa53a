import { useMemo, useState } from 'react'
import type { Listing } from '../../data/reads.ts'
import { Glyph } from '../glyph.tsx'
import { type Column, classOf } from './columns.ts'
import type { Picking } from './picking.ts'

export type Sorting = {
  by: string | undefined
  descending: boolean
  toggle(key: string): void
  /** Only a list that is there as a whole can be sorted here. */
  isPossible: boolean
}

export function useSorting<Row>(listing: Listing<Row>, columns: readonly Column<Row>[]) {
  const [by, setBy] = useState<string>()
  const [descending, setDescending] = useState(false)
  const compare = columns.find(({ key }) => key === by)?.sort
  const isPossible = !listing.hasMore && listing.rows.length > 1
  const rows = useMemo(() => {
    if (compare === undefined || !isPossible) return listing.rows
    const sorted = listing.rows.toSorted(compare)
    return descending ? sorted.reverse() : sorted
  }, [listing.rows, compare, descending, isPossible])
  const toggle = (key: string) => {
    if (by !== key) {
      setBy(key)
      setDescending(false)
    } else if (descending) setBy(undefined)
    else setDescending(true)
  }
  return { rows, sorting: { by, descending, toggle, isPossible } }
}

type HeadProps<Row> = {
  columns: readonly Column<Row>[]
  picking?: Picking<Row> | undefined
  sorting: Sorting
  rows: readonly Row[]
}

export function TableHead<Row>({ columns, picking, sorting, rows }: HeadProps<Row>) {
  return (
    <thead>
      <tr>
        {picking && (
          <th className="pick" scope="col">
            <input
              type="checkbox"
              aria-label="Pick all that are loaded"
              checked={rows.length > 0 && picking.picked.length === rows.length}
              onChange={({ target }) => picking.set(target.checked ? rows : [])}
            />
          </th>
        )}
        {columns.map((column) => (
          <th
            key={column.key}
            scope="col"
            className={classOf(column)}
            {...sortedAs(column, sorting)}
          >
            <Head column={column} sorting={sorting} />
          </th>
        ))}
      </tr>
    </thead>
  )
}

function sortedAs<Row>({ key, sort }: Column<Row>, { by, descending, isPossible }: Sorting) {
  if (sort === undefined || !isPossible || by !== key) return {}
  return { 'aria-sort': descending ? 'descending' : 'ascending' } as const
}

function Head<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting }) {
  if (column.head === '') return <span className="unseen">Actions</span>
  if (column.sort === undefined || !sorting.isPossible) return column.head
  return (
    <button type="button" onClick={() => sorting.toggle(column.key)}>
      {column.head}
      {sorting.by === column.key && (sorting.descending ? <Glyph name="down" /> : <Up />)}
    </button>
  )
}

function Up() {
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M4 10l4-4 4 4" />
    </svg>
  )
}
