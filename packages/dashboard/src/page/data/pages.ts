/** The feature, then what distinguishes the reads of it. */
export type ReadKey = readonly [feature: string, ...parts: unknown[]]

/** One page of a list. `next` is what the following page is asked with. */
export type Page<Row, Cursor> = {
  items: readonly Row[]
  next?: Cursor | undefined
  total?: number | undefined
}
