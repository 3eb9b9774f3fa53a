import type { ConsoleClient } from '@guildhall/client/console'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { jsonText } from '../../model/json.ts'
import { call } from './desk.ts'

/** The feature, then what distinguishes the reads of it. */
export type ReadKey = readonly [feature: string, ...parts: unknown[]]

type ReadOptions = { everyMs?: number; enabled?: boolean; keep?: boolean }

/** Reads from the console, and again when the feature changes or the page is looked at anew. */
export function useRead<T>(
  key: ReadKey,
  read: (desk: ConsoleClient) => Promise<T>,
  { everyMs, enabled = true, keep = false }: ReadOptions = {},
) {
  return useQuery({
    queryKey: key,
    queryFn: () => call(read),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
}

/** One page of a list. `next` is what the following page is asked with. */
export type Page<Row, Cursor> = {
  items: readonly Row[]
  next?: Cursor | undefined
  total?: number | undefined
}

export type Listing<Row> = {
  /** What was asked for: another filter or order is another list, which is shown from its top. */
  asked: string
  rows: readonly Row[]
  total: number | undefined
  error: Error | null
  isLoading: boolean
  isFetchingMore: boolean
  hasMore: boolean
  more(): void
  again(): void
}

/** Reads a list page by page. */
export function usePages<Row, Cursor>(
  key: ReadKey,
  read: (desk: ConsoleClient, cursor: Cursor | undefined) => Promise<Page<Row, Cursor>>,
): Listing<Row> {
  const query = useInfiniteQuery({
    queryKey: key,
    // The library loses the type of what it was given as the first one below.
    queryFn: ({ pageParam }) => call((desk) => read(desk, pageParam as Cursor | undefined)),
    initialPageParam: undefined as Cursor | undefined,
    getNextPageParam: ({ next }: Page<Row, Cursor>) => next,
    placeholderData: keepPreviousData,
  })
  const { data, hasNextPage, isFetching } = query
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data])
  return {
    asked: jsonText(key),
    rows,
    total: data?.pages.at(-1)?.total,
    error: query.error,
    isLoading: query.isPending,
    isFetchingMore: query.isFetchingNextPage,
    hasMore: hasNextPage,
    more: () => {
      if (hasNextPage && !isFetching) void query.fetchNextPage()
    },
    again: () => void query.refetch(),
  }
}

/** A list that comes as a whole, in the form of one that comes in pages. */
export function wholeListing<Row>(
  query: { error: Error | null; isPending: boolean; refetch(): unknown },
  rows: readonly Row[] | undefined,
): Listing<Row> {
  return {
    asked: '',
    rows: rows ?? [],
    total: rows?.length,
    error: query.error,
    isLoading: query.isPending,
    isFetchingMore: false,
    hasMore: false,
    more: () => {},
    again: () => void query.refetch(),
  }
}

/** The offset of the next page, while there is one. */
export function nextOffset(
  offset: number | undefined,
  { items, total }: { items: readonly unknown[]; total: number },
): number | undefined {
  const end = (offset ?? 0) + items.length
  return items.length > 0 && end < total ? end : undefined
}
