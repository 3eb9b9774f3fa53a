import type { ReactNode } from 'react'

export type Column<Row> = {
  key: string
  head: string
  cell(row: Row): ReactNode
  /** Width in pixels; a column without one takes what is left. */
  width?: number
  align?: 'number'
  /** Only where there is room. */
  wide?: boolean
  /** Not where there is as little room as on a phone. */
  medium?: boolean
  /** Offered only where the list is whole, because the API does not sort. */
  sort?(a: Row, b: Row): number
}

/** The classes of its cells. */
export function classOf<Row>({ align, wide, medium }: Column<Row>): string {
  return [align, wide && 'wide-only', medium && 'medium-only'].filter(Boolean).join(' ')
}
