import type { ConsoleClient } from '@guildhall/client/console'
import { useQuery } from '@tanstack/react-query'
import { call } from './console-client.ts'
import { createTurns } from './in-turn.ts'
import { isAsked, type NameBatch, nameBatch } from './name-batch.ts'

type Names = Awaited<ReturnType<ConsoleClient['consoleAccounts']['usernames']>>
export type AccountName = Names['items'][number]

/** Ids of one request gather so long, in milliseconds. */
const gatherMs = 10
/** Names change seldom. */
const freshMs = 60_000

/** A browser has six connections to a node: JSON full of ids leaves most of them to all else. */
const inTurn = createTurns(2)

type Batch = { ids: NameBatch; names: Promise<ReadonlyMap<string, AccountName>> }
let gathering: Batch | undefined

/** What an account is called: null where there is none, undefined until that is read. */
export function useAccountName(id: string): AccountName | null | undefined {
  const name = useQuery({
    queryKey: ['accounts', 'name', id],
    queryFn: () => readName(id),
    staleTime: freshMs,
    enabled: isAsked(id),
  })
  return name.data
}

/** As `useAccountName`, for sentences: its id stands for what has no name. */
export function useName(id: string): string {
  return useAccountName(id)?.username ?? id
}

/** What users are called, of those that have a name that can be read: files do without. */
export async function readNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)].filter(isAsked)
  const names = await Promise.all(asked.map((id) => readName(id).catch(() => null)))
  return new Map(names.flatMap((name) => (name ? [[name.user_id, name.username]] : [])))
}

/** One of many: all ids of a table are one request. */
async function readName(id: string): Promise<AccountName | null> {
  if (gathering === undefined || !gathering.ids.takes(id)) gathering = gather()
  gathering.ids.add(id)
  return (await gathering.names).get(id) ?? null
}

function gather(): Batch {
  const ids = nameBatch()
  const names = new Promise((resolve) => setTimeout(resolve, gatherMs)).then(async () => {
    if (gathering?.ids === ids) gathering = undefined
    const query = { user_ids: ids.all() }
    const { items } = await inTurn(() =>
      call((client) => client.consoleAccounts.usernames({ query })),
    )
    return new Map(items.map((name) => [name.user_id, name]))
  })
  return { ids, names }
}
