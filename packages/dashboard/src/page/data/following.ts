import type { ConsoleClient } from '@guildhall/client/console'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { call } from './console-client.ts'
import { type Follow, freshRows, joined, type Pages } from './joined.ts'
import { restful } from './pace.ts'
import type { Page, ReadKey } from './pages.ts'
import { useRestful } from './resting.ts'

/** What came on top of a list since it was read. */
export type Following = {
  /** Rows that wait until the list is at its top again, or until they are asked for. */
  waiting: number
  readAtMs: number
  /** Why its newest rows could not be read. */
  error: Error | null
  /** Called by the table: whether its first row is in sight. */
  setTop(isTop: boolean): void
  /** Puts what waits on top. */
  show(): void
}

type FollowingOptions<Row, Cursor> = {
  key: ReadKey
  /** Reads the first page. */
  read(client: ConsoleClient): Promise<Page<Row, Cursor>>
  follow: Follow<Row> | undefined
  /** What the list has; undefined until it is there. */
  pages: readonly Page<Row, Cursor>[] | undefined
}

/** Reads the first page of a list again and again, and adds what is new while the top is seen. */
export function useFollowing<Row, Cursor>(
  options: FollowingOptions<Row, Cursor>,
): Following | undefined {
  const { key, read, follow, pages } = options
  const queries = useQueryClient()
  const [isTop, setTop] = useState(true)
  const everyMs = useRestful(restful.list, ({ items }: Page<Row, Cursor>) => items)
  const isOn = follow !== undefined && pages !== undefined
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: () => call(read),
    enabled: isOn,
    refetchInterval: ({ state }) => everyMs(state.data),
  })
  const first = newest.data
  const fresh = useMemo(() => {
    if (first === undefined || pages === undefined || follow === undefined) return []
    const rows = pages.flatMap(({ items }) => items)
    return freshRows(rows, first.items, follow)
  }, [first, pages, follow])
  const show = () => {
    if (first === undefined || follow === undefined) return
    queries.setQueryData<Pages<Row, Cursor>>(
      key,
      (before) => before && joined(before, first, follow),
    )
  }
  const count = fresh.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: `show` is of these.
  useEffect(() => {
    if (count > 0 && isTop) show()
  }, [count, isTop, first])
  if (!isOn) return undefined
  const { dataUpdatedAt: readAtMs, error } = newest
  return { waiting: isTop ? 0 : count, readAtMs, error, setTop, show }
}
