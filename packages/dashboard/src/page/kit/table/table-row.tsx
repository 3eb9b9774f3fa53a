import { type KeyboardEvent, type MouseEvent, memo } from 'react'
import { type Column, classOf } from './columns.ts'
import type { Picking } from './picking.ts'

type RowProps<Row> = {
  row: Row
  index: number
  columns: readonly Column<Row>[]
  isActive: boolean
  isOpen: boolean
  picking: Picking<Row> | undefined
  onOpen: ((row: Row) => void) | undefined
}

/** Drawn anew only when something of it has changed, however the table scrolls. */
export const TableRow = memo(PlainRow) as typeof PlainRow

function PlainRow<Row>(props: RowProps<Row>) {
  const { row, index, columns, isActive, isOpen, picking, onOpen } = props
  const isPicked = picking?.has(row) ?? false
  return (
    <tr
      data-row={index}
      data-open={onOpen === undefined ? undefined : ''}
      aria-rowindex={index + 1}
      aria-selected={isOpen || isPicked ? true : undefined}
      tabIndex={isActive ? 0 : -1}
      onClick={(event) => {
        if (!isControl(event)) onOpen?.(row)
      }}
      onKeyDown={(event) => {
        if (isControl(event)) return
        if (event.key === 'Enter') onOpen?.(row)
        if (event.key === ' ' && picking !== undefined) {
          event.preventDefault()
          picking.toggle(row)
        }
      }}
    >
      {picking && (
        <td className="pick">
          <PickBox picking={picking} row={row} />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** Picks one row. */
export function PickBox<Row>({ picking, row }: { picking: Picking<Row>; row: Row }) {
  return (
    <input
      type="checkbox"
      aria-label={`Pick ${picking.nameOf(row)}`}
      checked={picking.has(row)}
      onChange={() => picking.toggle(row)}
    />
  )
}

/** What a row holds has its own meaning of a click or a key. */
function isControl(event: MouseEvent | KeyboardEvent): boolean {
  return (event.target as HTMLElement).closest('a, button, input, select') !== null
}
