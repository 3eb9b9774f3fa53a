import type { ConsoleClient } from '@guildhall/client/console'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { jsonText } from '../../model/json.ts'
import { call } from './desk.ts'

/** The feature, then what distinguishes the reads of it. */
export type ReadKey = readonly [feature: string, ...parts: unknown[]]

type ReadOptions = { everyMs?: number; enabled?: boolean; keep?: boolean }

/** What was read, or is being read. */
export type Reading<T> = {
  /** The key as text: another filter is another question. */
  asked: string
  data: T | undefined
  error: Error | null
  isPending: boolean
  /** The data answers the question before this one, whose answer is on its way. */
  isPlaceholderData: boolean
  refetch(): unknown
}

/** Reads from the console, and again when the feature changes or the page is looked at anew. */
export function useRead<T>(
  key: ReadKey,
  read: (desk: ConsoleClient) => Promise<T>,
  { everyMs, enabled = true, keep = false }: ReadOptions = {},
): Reading<T> {
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: key,
    queryFn: () => call(read),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
  return { asked: jsonText(key), data, error, isPending, isPlaceholderData, refetch }
}

/** One page of a list. `next` is what the following page is asked with. */
export type Page<Row, Cursor> = {
  items: readonly Row[]
  next?: Cursor | undefined
  total?: number | undefined
}

export type Listing<Row> = {
  /** What was asked for: another filter is another list, with a place and picks of its own. */
  asked: string
  rows: readonly Row[]
  /** The rows are those of the list before, until this one is read: nothing is done with them. */
  isOutdated: boolean
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
    isOutdated: query.isPlaceholderData,
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
  { asked, error, isPending, isPlaceholderData, refetch }: Omit<Reading<unknown>, 'data'>,
  rows: readonly Row[] | undefined,
): Listing<Row> {
  return {
    asked,
    rows: rows ?? [],
    isOutdated: isPlaceholderData,
    total: rows?.length,
    error,
    isLoading: isPending,
    isFetchingMore: false,
    hasMore: false,
    more: () => {},
    again: () => void refetch(),
  }
}

/** Rows that came with something else, in the form of a list. */
export function givenListing<Row>(asked: string, rows: readonly Row[]): Listing<Row> {
  const reading = { asked, error: null, isPending: false, isPlaceholderData: false }
  return wholeListing({ ...reading, refetch: () => {} }, rows)
}

/** The offset of the next page, while there is one. */
export function nextOffset(
  offset: number | undefined,
  { items, total }: { items: readonly unknown[]; total: number },
): number | undefined {
  const end = (offset ?? 0) + items.length
  return items.length > 0 && end < total ? end : undefined
}
