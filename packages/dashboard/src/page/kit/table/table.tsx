import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { grouped } from '../../../model/time.ts'
import { useRowHeight } from '../../data/display.ts'
import { useMay } from '../../data/permissions.ts'
import type { Listing } from '../../data/reads.ts'
import { ErrorState } from '../error-state.tsx'
import { Skeleton } from '../states.tsx'
import { type Bulk, BulkBar } from './bulk.tsx'
import { type Column, classOf } from './columns.ts'
import { useKeptPlace } from './kept-place.ts'
import { NewRows, useTopWatch } from './new-rows.tsx'
import { type Picking, usePicking } from './picking.ts'
import { ReadAge } from './read-age.tsx'
import { TableHead, useSorting } from './table-head.tsx'
import { TableRow } from './table-row.tsx'

export type TableProps<Row> = {
  /** What the rows are, for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  listing: Listing<Row>
  rowKey(row: Row): string
  onOpen?: ((row: Row) => void) | undefined
  /** The row that is shown beside the table. */
  openKey?: string | undefined
  /** What is done with rows that are picked, by those who may. */
  bulk?: Bulk<Row> | undefined
  empty: ReactNode
  /** Within a page that scrolls as a whole. */
  inline?: boolean
  /** In pixels: a table of many columns is wider than its place. */
  minWidth?: number
  /** Said at the foot in place of the count. */
  foot?: ReactNode
}

/** In pixels: the column of the checkboxes, and the least of a column that takes what is left. */
const pickWidth = 36
const elasticWidth = 120
/** Fewer rows stand in the page as they are. */
const virtualFrom = 100

/**
 * A table of any length: only rows in sight are in the page, the next page is read when its end
 * comes near, and the arrow keys, Home, End, Enter and Space work as in a list.
 */
export function DataTable<Row>({ bulk, ...props }: TableProps<Row>) {
  const { listing, rowKey } = props
  const may = useMay(bulk?.route)
  const picking = usePicking({ listing, keyOf: rowKey, nameOf: bulk?.nameOf ?? rowKey })
  if (bulk === undefined || !may) return <PlainTable {...props} />
  return (
    <>
      <PlainTable {...props} picking={picking} />
      <BulkBar picking={picking} {...bulk} />
    </>
  )
}

type PlainProps<Row> = Omit<TableProps<Row>, 'bulk'> & { picking?: Picking<Row> }

function PlainTable<Row>(props: PlainProps<Row>) {
  const { listing, columns } = props
  // A state, not a reference: what reads it is drawn once more when it is there.
  const [frame, setFrame] = useState<HTMLDivElement | null>(null)
  const { rows, sorting } = useSorting(listing, columns)
  const { asked } = listing
  useKeptPlace(frame, asked)
  const rowHeight = useRowHeight()
  useTopWatch(frame, listing.following, rowHeight)
  if (listing.error !== null && rows.length === 0) {
    return <ErrorState error={listing.error} again={listing.again} />
  }
  if (listing.isLoading) {
    return (
      <div className="page-scroll">
        <Skeleton lines={10} />
      </div>
    )
  }
  if (rows.length === 0) {
    return (
      <>
        {props.empty}
        <TableFoot {...props} />
      </>
    )
  }
  return (
    <>
      <NewRows following={listing.following} frame={frame} />
      <div
        ref={setFrame}
        className={frameClass(props)}
        inert={listing.isOutdated}
        aria-busy={listing.isOutdated}
      >
        <table
          className="data"
          aria-label={props.label}
          aria-rowcount={listing.total ?? -1}
          style={widthsOf(props)}
        >
          <ColumnWidths columns={columns} picks={props.picking !== undefined} />
          <TableHead {...props} sorting={sorting} rows={rows} />
          <TableBody key={asked} {...props} rows={rows} frame={frame} />
        </table>
      </div>
      <TableFoot {...props} />
    </>
  )
}

/** What the columns need: with less room the frame scrolls sideways, and nothing is squeezed. */
function widthsOf<Row>({ columns, picking, minWidth }: PlainProps<Row>): CSSProperties {
  const sum = (of: readonly Column<Row>[]) =>
    of.reduce((width, column) => width + (column.width ?? elasticWidth), picking ? pickWidth : 0)
  const all = minWidth ?? sum(columns)
  const few = minWidth ?? sum(columns.filter(({ wide }) => !wide))
  const least = minWidth ?? sum(columns.filter(({ wide, medium }) => !wide && !medium))
  return { '--all': `${all}px`, '--few': `${few}px`, '--least': `${least}px` } as CSSProperties
}

function frameClass({ inline }: { inline?: boolean }): string {
  return inline ? 'table-frame inline' : 'table-frame'
}

function ColumnWidths<Row>({
  columns,
  picks,
}: {
  columns: readonly Column<Row>[]
  picks: boolean
}) {
  return (
    <colgroup>
      {picks && <col style={{ width: pickWidth }} />}
      {columns.map((column) => (
        <col
          key={column.key}
          className={classOf(column)}
          {...(column.width === undefined ? {} : { style: { width: column.width } })}
        />
      ))}
    </colgroup>
  )
}

type BodyProps<Row> = PlainProps<Row> & {
  rows: readonly Row[]
  frame: HTMLDivElement | null
}

function TableBody<Row>({ frame, rows, ...props }: BodyProps<Row>) {
  const { listing, columns, picking, rowKey, onOpen } = props
  const [active, setActive] = useState(0)
  const rowHeight = useRowHeight()
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame,
    estimateSize: () => rowHeight,
    overscan: 12,
    enabled: rows.length >= virtualFrom,
    useFlushSync: false,
  })
  const { measure } = virtualizer
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height.
  useEffect(() => measure(), [rowHeight])
  const shown = useShown(rows.length, virtualizer, rowHeight)
  // Entries of the audit trail have no id: two of one moment may say the same.
  const keys = new Set<string>()
  const { hasMore, more } = listing
  const nearEnd = shown.end >= rows.length - 10 && rows.length >= virtualFrom
  useEffect(() => {
    if (nearEnd && hasMore) more()
  }, [nearEnd, hasMore, more])

  const focusWhenDrawn = useRowFocus(frame)
  const focusRow = (index: number) => {
    const to = Math.max(0, Math.min(rows.length - 1, index))
    setActive(to)
    if (rows.length >= virtualFrom) virtualizer.scrollToIndex(to)
    focusWhenDrawn(to)
  }
  return (
    <tbody onKeyDown={(event) => moveByKey(event, { count: rows.length, focusRow })}>
      <Space height={shown.above} />
      {rows.slice(shown.start, shown.end).map((row, offset) => {
        const index = shown.start + offset
        const key = rowKey(row)
        const isTwin = keys.has(key)
        keys.add(key)
        return (
          <TableRow
            key={isTwin ? `${key} ${index}` : key}
            row={row}
            index={index}
            columns={columns}
            isActive={index === Math.min(active, rows.length - 1)}
            isOpen={props.openKey === key}
            picking={picking}
            onOpen={onOpen}
          />
        )
      })}
      <Space height={shown.below} />
    </tbody>
  )
}

/**
 * Focuses a row as soon as it is drawn: one that was out of sight comes with a later drawing, and
 * the row that had the focus may be gone by then.
 */
function useRowFocus(frame: HTMLElement | null): (index: number) => void {
  const wanted = useRef<number>(undefined)
  const tryNow = () => {
    const focused = document.activeElement
    const isElsewhere = focused !== document.body && !frame?.contains(focused)
    const row = frame?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`)
    if (row || isElsewhere) wanted.current = undefined
    if (!isElsewhere) row?.focus()
  }
  useEffect(() => {
    if (wanted.current !== undefined) tryNow()
  })
  return (index) => {
    wanted.current = index
    tryNow()
  }
}

type Virtual = ReturnType<typeof useVirtualizer<HTMLDivElement, Element>>

function useShown(count: number, virtualizer: Virtual, rowHeight: number) {
  const items = virtualizer.getVirtualItems()
  if (count < virtualFrom) return { start: 0, end: count, above: 0, below: 0 }
  const start = items[0]?.index ?? 0
  const end = (items.at(-1)?.index ?? 40) + 1
  return { start, end, above: start * rowHeight, below: Math.max(0, count - end) * rowHeight }
}

/** One cell only: more of them would bring back columns that are hidden. */
function Space({ height }: { height: number }) {
  if (height === 0) return null
  return (
    <tr className="space">
      <td style={{ height }} />
    </tr>
  )
}

type Moving = { count: number; focusRow(index: number): void }

function moveByKey(event: KeyboardEvent<HTMLElement>, { count, focusRow }: Moving): void {
  const target = event.target as HTMLElement
  const row = target.closest<HTMLElement>('[data-row]')
  if (row === null || event.metaKey || event.ctrlKey || event.altKey) return
  const index = Number(row.dataset.row)
  const to: Record<string, number> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    Home: 0,
    End: count - 1,
    PageDown: index + 15,
    PageUp: index - 15,
  }
  const next = to[event.key]
  if (next === undefined) return
  event.preventDefault()
  focusRow(next)
}

function TableFoot<Row>({ listing, foot, inline }: PlainProps<Row>) {
  const { rows, total, hasMore, isFetchingMore, more, following, readAtMs, again } = listing
  const error = listing.error ?? following?.error ?? null
  const count = useMemo(() => {
    const shown = grouped(rows.length)
    return total === undefined || total === rows.length ? shown : `${shown} of ${grouped(total)}`
  }, [rows.length, total])
  return (
    <div className={inline ? 'table-foot inline' : 'table-foot'}>
      {rows.length > 0 && <span>{foot ?? count}</span>}
      {readAtMs > 0 && <ReadAge readAtMs={readAtMs} again={again} />}
      {error !== null && <span className="problem">The last reading failed.</span>}
      {hasMore && rows.length > 0 && (
        <button type="button" className="tiny" onClick={more} disabled={isFetchingMore}>
          {isFetchingMore ? 'Loading' : 'Load more'}
        </button>
      )}
    </div>
  )
}
