import { useMemo, useState } from 'react'
import type { Listing } from '../../data/reads.ts'

/**
 * Rows of one list that are marked for an action on all of them. A row that is not in the list is
 * never picked: picks end with the filter they were made under, and with the row itself.
 */
export type Picking<Row> = {
  /** The list they belong to. */
  asked: string
  picked: readonly Row[]
  has(row: Row): boolean
  toggle(row: Row): void
  set(rows: readonly Row[]): void
  /** What a row is called, for screen readers. */
  nameOf(row: Row): string
}

type PickingOptions<Row> = {
  listing: Pick<Listing<Row>, 'asked' | 'rows'>
  keyOf(row: Row): string
  nameOf(row: Row): string
}

type Picks = { asked: string; keys: ReadonlySet<string> }

export function usePicking<Row>(options: PickingOptions<Row>): Picking<Row> {
  const { asked, rows } = options.listing
  const { keyOf, nameOf } = options
  const [picks, setPicks] = useState<Picks>({ asked, keys: new Set() })
  // While it is drawn, so that no drawing of a list has the picks of another.
  if (picks.asked !== asked) setPicks({ asked, keys: new Set() })
  return useMemo(() => {
    const keys = picks.asked === asked ? picks.keys : new Set<string>()
    const set = (next: Iterable<string>) => setPicks({ asked, keys: new Set(next) })
    return {
      asked,
      picked: keys.size === 0 ? [] : rows.filter((row) => keys.has(keyOf(row))),
      has: (row) => keys.has(keyOf(row)),
      toggle(row) {
        const next = new Set(keys)
        if (!next.delete(keyOf(row))) next.add(keyOf(row))
        set(next)
      },
      set: (next) => set(next.map(keyOf)),
      nameOf,
    }
  }, [asked, rows, picks, keyOf, nameOf])
}
