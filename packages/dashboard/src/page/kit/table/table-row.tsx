import { type KeyboardEvent, type MouseEvent, memo } from 'react'
import type { Column } from './table.tsx'

/** Rows that are marked for an action on all of them, by their keys. */
export type Picking = { picked: ReadonlySet<string>; set(keys: readonly string[]): void }

type RowProps<Row> = {
  row: Row
  rowId: string
  index: number
  columns: readonly Column<Row>[]
  isActive: boolean
  isOpen: boolean
  picking: Picking | undefined
  onOpen: ((row: Row) => void) | undefined
}

/** Drawn anew only when something of it has changed, however the table scrolls. */
export const TableRow = memo(PlainRow) as typeof PlainRow

function PlainRow<Row>(props: RowProps<Row>) {
  const { row, rowId, index, columns, isActive, isOpen, picking, onOpen } = props
  const isPicked = picking?.picked.has(rowId) ?? false
  const pick = () => {
    const next = new Set(picking?.picked)
    if (!next.delete(rowId)) next.add(rowId)
    picking?.set([...next])
  }
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
          pick()
        }
      }}
    >
      {picking && (
        <td className="pick">
          <input type="checkbox" aria-label={`Pick ${rowId}`} checked={isPicked} onChange={pick} />
        </td>
      )}
      {columns.map(({ key, cell, align, wide }) => (
        <td key={key} className={[align, wide && 'wide-only'].filter(Boolean).join(' ')}>
          {cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** What a row holds has its own meaning of a click or a key. */
function isControl(event: MouseEvent | KeyboardEvent): boolean {
  return (event.target as HTMLElement).closest('a, button, input, select') !== null
}
