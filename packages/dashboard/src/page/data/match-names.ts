import type { ConsoleClient } from '@guildhall/client/console'
import { useQuery } from '@tanstack/react-query'
import { call } from './console-client.ts'

/** So many of the newest records are known by their names; the node gives no more at a time. */
const recordsMax = 200
/** A match has one name as long as it is kept; only newer ones come. */
const freshMs = 60_000

export const matchNamesKey = ['matchRecords', 'names']

/**
 * What matches are called, by their ids: name, or else mode or map, and the end of the id, for many
 * are called alike.
 */
export async function readMatchNames(client: ConsoleClient): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.matchRecords.list({ query: { limit: recordsMax } })
  return new Map(
    items.flatMap(({ match_id, name, mode, map }) => {
      const called = name ?? (mode || map)
      return called === '' ? [] : [[match_id, `${called} …${match_id.slice(-4)}`]]
    }),
  )
}

/** What a match is called; the end of its id where it has no words or is not one of the newest. */
export function useMatchName(id: string): string {
  const names = useQuery({
    queryKey: matchNamesKey,
    queryFn: () => call(readMatchNames),
    staleTime: freshMs,
  })
  return names.data?.get(id) ?? `…${id.slice(-8)}`
}
