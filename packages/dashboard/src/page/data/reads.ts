import type { ConsoleClient } from '@guildhall/client/console'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { jsonText } from '../../model/json.ts'
import { call } from './console-client.ts'
import { type Following, useFollowing } from './following.ts'
import { eachOnce, type Follow } from './joined.ts'
import { byPages, freshMs } from './pace.ts'
import type { Page, ReadKey } from './pages.ts'

type ReadOptions<T> = {
  everyMs?: number | ((data: T | undefined) => number | false)
  enabled?: boolean
  keep?: boolean
}

/** What was read, or is being read. */
export type Reading<T> = {
  /** The key as text: another filter is another question. */
  asked: string
  data: T | undefined
  error: Error | null
  isPending: boolean
  /** The data answers the question before this one, whose answer is on its way. */
  isPlaceholderData: boolean
  /** When it was read, by the clock of this browser, in Unix milliseconds; 0 for never. */
  readAtMs: number
  refetch(): unknown
}

/** Reads from the console, and again when the feature changes or the page is looked at anew. */
export function useRead<T>(
  key: ReadKey,
  read: (client: ConsoleClient) => Promise<T>,
  { everyMs, enabled = true, keep = false }: ReadOptions<T> = {},
): Reading<T> {
  const { data, error, isPending, isPlaceholderData, refetch, dataUpdatedAt } = useQuery({
    queryKey: key,
    queryFn: () => call(read),
    enabled,
    refetchInterval: ({ state }) =>
      typeof everyMs === 'function' ? everyMs(state.data as T | undefined) : (everyMs ?? false),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
  const reading = { data, error, isPending, isPlaceholderData, refetch }
  return { ...reading, asked: jsonText(key), readAtMs: dataUpdatedAt }
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
  /** Any page of it, which is not kept: for what goes through all of them. */
  readPage(cursor: unknown): Promise<Page<Row, unknown>>
  /** When it was read, as in `Reading`. */
  readAtMs: number
  /** What came since; undefined for lists that do not follow. */
  following?: Following | undefined
}

type PagesOptions<Row> = {
  /** How often all that was loaded is read again. */
  everyMs?: (pages: readonly Page<Row, unknown>[]) => number | false
  /** The list follows while it is at its top. */
  follow?: Follow<Row>
}

/** Reads a list page by page. */
export function usePages<Row, Cursor>(
  key: ReadKey,
  read: (client: ConsoleClient, cursor: Cursor | undefined) => Promise<Page<Row, Cursor>>,
  { everyMs, follow }: PagesOptions<Row> = {},
): Listing<Row> {
  const query = useInfiniteQuery({
    queryKey: key,
    // The library loses the type of what it was given as the first one below.
    queryFn: ({ pageParam }) => call((client) => read(client, pageParam as Cursor | undefined)),
    initialPageParam: undefined as Cursor | undefined,
    getNextPageParam: ({ next }: Page<Row, Cursor>) => next,
    placeholderData: keepPreviousData,
    staleTime: ({ state }) => byPages(freshMs, state.data?.pages ?? []),
    // Whoever comes back finds what they read where it was: a list that follows reads its top.
    refetchOnWindowFocus: follow === undefined,
    refetchInterval: ({ state }) => everyMs?.(state.data?.pages ?? []) ?? false,
  })
  const { data, hasNextPage, isFetching } = query
  const rows = useMemo(() => {
    const all = data?.pages.flatMap(({ items }) => items) ?? []
    return follow === undefined ? all : eachOnce(all, follow)
  }, [data, follow])
  const following = useFollowing({
    key,
    read: (client) => read(client, undefined),
    follow,
    pages: query.isPlaceholderData ? undefined : data?.pages,
  })
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
    readPage: (cursor) => call((client) => read(client, cursor as Cursor | undefined)),
    readAtMs: Math.max(query.dataUpdatedAt, following?.readAtMs ?? 0),
    following,
  }
}

/** A list that comes as a whole, in the form of one that comes in pages. */
export function wholeListing<Row>(
  reading: Omit<Reading<unknown>, 'data'>,
  rows: readonly Row[] | undefined,
): Listing<Row> {
  const { asked, error, isPending, isPlaceholderData, refetch } = reading
  return {
    readAtMs: reading.readAtMs,
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
    readPage: async () => ({ items: rows ?? [] }),
  }
}

/** What rows came with. */
export type ReadWith = Pick<Reading<unknown>, 'readAtMs' | 'refetch'>

/** Rows that came with something else, in the form of a list. */
export function givenListing<Row>(
  asked: string,
  rows: readonly Row[],
  { readAtMs, refetch }: ReadWith,
): Listing<Row> {
  const reading = { asked, error: null, isPending: false, isPlaceholderData: false }
  return wholeListing({ ...reading, readAtMs, refetch }, rows)
}

/** The offset of the next page, while there is one. */
export function nextOffset(
  offset: number | undefined,
  { items, total }: { items: readonly unknown[]; total: number },
): number | undefined {
  const end = (offset ?? 0) + items.length
  return items.length > 0 && end < total ? end : undefined
}
