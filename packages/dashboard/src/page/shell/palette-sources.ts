import type { ConsoleClient } from '@guildhall/client/console'
import { api, type Route } from '@guildhall/contract'
import { isEmail } from '../data/accounts.ts'
import { readMatchNames } from '../data/match-names.ts'
import type { ReadKey } from '../data/pages.ts'
import { mayNow } from '../data/permissions.ts'
import { useRead } from '../data/reads.ts'
import type { Target } from './palette-target.ts'

/** So many of each kind are offered. */
const eachMax = 6

/** What was found, and whether all that was asked has answered. */
type Found = { targets: readonly Target[]; isWhole: boolean }

/** What is stored and has one of the names in it; nothing is read for the empty text. */
export function useSources(filter: string): Found {
  const accounts = useSource(['accounts', 'palette', filter], api.consoleAccounts.search, {
    isOn: filter !== '',
    read: async (client) => {
      const query = { username_prefix: filter, limit: eachMax }
      return (await client.consoleAccounts.search({ query })).items.map(accountTarget)
    },
  })
  const named = useSource(['accounts', 'palette-named', filter], api.consoleAccounts.search, {
    isOn: filter !== '' && filter.length <= 60,
    read: async (client) => {
      const by = isEmail(filter) ? { email: filter } : { display_name: filter }
      const query = { ...by, limit: eachMax }
      return (await client.consoleAccounts.search({ query })).items.map(accountTarget)
    },
  })
  const groups = useSource(['groups', 'palette', filter], api.groups.list, {
    isOn: filter !== '',
    read: async (client) => {
      const { items } = await client.groups.list({ query: { filter, limit: eachMax } })
      return items.map(({ id, name }) =>
        target({ label: name, kind: 'group', glyph: 'people', to: '/groups/$id' }, String(id)),
      )
    },
  })
  const channels = useSource(['chat', 'palette', filter], api.chat.list, {
    isOn: filter !== '',
    read: async (client) => {
      const { items } = await client.chat.list({ query: { filter, limit: eachMax } })
      return items.map(({ channel }) => ({
        ...target(
          { label: channel, kind: 'channel', glyph: 'chat', to: '/chat/$channel' },
          channel,
        ),
        namesAccounts: true,
        params: { channel },
      }))
    },
  })
  const rooms = useSource(['matches', 'palette', filter], api.matches.list, {
    isOn: filter !== '',
    read: async (client) => {
      const { rooms } = await client.matches.list({ query: { filter, limit: eachMax } })
      return rooms.map(({ id, name, mode }) => {
        const label = name ?? `Room ${id}, ${mode}`
        return target({ label, kind: 'room', glyph: 'door', to: '/rooms/$id' }, String(id))
      })
    },
  })
  return joined([accounts, named, groups, channels, rooms, ...useListsOnce(filter)])
}

/** Lists that come as a whole, or of which only the newest are known, are searched here. */
function useListsOnce(filter: string): readonly Found[] {
  const isOn = filter !== ''
  const boards = useSource(['leaderboards', 'palette'], api.leaderboards.list, {
    isOn,
    read: async (client) =>
      (await client.leaderboards.list({})).items.map(({ id }) =>
        target({ label: id, kind: 'leaderboard', glyph: 'trophy', to: '/leaderboards/$id' }, id),
      ),
  })
  const tournaments = useSource(['tournaments', 'palette'], api.tournaments.list, {
    isOn,
    read: async (client) =>
      (await client.tournaments.list({})).items.map(({ id }) =>
        target({ label: id, kind: 'tournament', glyph: 'flag', to: '/tournaments/$id' }, id),
      ),
  })
  const collections = useSource(['storage', 'palette'], api.storage.collections, {
    isOn,
    read: async (client) =>
      (await client.storage.collections({})).collections.map(({ collection }) => ({
        ...target(
          { label: collection, kind: 'collection', glyph: 'box', to: '/storage' },
          collection,
        ),
        search: { collection },
      })),
  })
  const records = useSource(['matchRecords', 'palette'], api.matchRecords.list, {
    isOn,
    read: async (client) =>
      [...(await readMatchNames(client))].map(([id, label]) =>
        target({ label, kind: 'match record', glyph: 'record', to: '/match-records/$id' }, id),
      ),
  })
  const words = filter.toLowerCase()
  const isNamed = ({ label }: Target) => isOn && label.toLowerCase().includes(words)
  return [boards, tournaments, collections, records].map(({ targets, isWhole }) => {
    return { isWhole, targets: targets.filter(isNamed).slice(0, eachMax) }
  })
}

function joined(all: readonly Found[]): Found {
  const targets = all.flatMap(({ targets }) => targets)
  return { targets, isWhole: all.every(({ isWhole }) => isWhole) }
}

type Source = { isOn: boolean; read(client: ConsoleClient): Promise<readonly Target[]> }

function useSource(key: ReadKey, route: Route, { isOn, read }: Source): Found {
  const enabled = isOn && mayNow(route)
  const { data, error } = useRead(key, read, { enabled })
  const isWhole = !enabled || data !== undefined || error !== null
  return { targets: (isOn ? data : undefined) ?? [], isWhole }
}

function target(words: Omit<Target, 'key' | 'params'>, id: string): Target {
  return { ...words, key: `${words.kind}-${id}`, params: { id } }
}

type Named = { id: string; username: string; display_name: string | null }

function accountTarget({ id, username, display_name }: Named): Target {
  const label = display_name === null ? username : `${username} · ${display_name}`
  return { key: id, label, kind: 'account', glyph: 'person', to: '/accounts/$id', params: { id } }
}
