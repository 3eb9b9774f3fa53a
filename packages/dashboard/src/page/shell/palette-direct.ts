import { api, type Route } from '@guildhall/contract'
import { mayNow } from '../data/permissions.ts'
import type { Target } from './palette-target.ts'

type Direct = { matches: RegExp; reads: Route; target(id: string): Omit<Target, 'key' | 'params'> }

/** Ids that say by their beginning what they are of. */
const whole: readonly Direct[] = [
  {
    matches: /^mt1-[0-9a-f]{29}$/i,
    reads: api.matchRecords.get,
    target: (id) => ({
      label: id,
      kind: 'match record',
      glyph: 'record',
      to: '/match-records/$id',
    }),
  },
  {
    matches: /^ml1-[0-9a-f]{29}$/i,
    reads: api.scriptLogs.get,
    target: (id) => ({ label: id, kind: 'log line', glyph: 'list', to: '/logs/$id' }),
  },
  {
    matches: /^user-[0-9a-f]{32}$/,
    reads: api.consoleAccounts.get,
    target: (id) => ({
      label: id,
      namesAccounts: true,
      kind: 'account',
      glyph: 'person',
      to: '/accounts/$id',
    }),
  },
]

/** What a text may be as well: only its section knows. */
const possible: readonly Direct[] = [
  {
    matches: /^[0-9]{1,16}$/,
    reads: api.matches.get,
    target: (id) => ({ label: `Room ${id}`, kind: 'room', glyph: 'door', to: '/rooms/$id' }),
  },
  {
    matches: /^[0-9]{1,16}$/,
    reads: api.groups.get,
    target: (id) => ({ label: `Group ${id}`, kind: 'group', glyph: 'people', to: '/groups/$id' }),
  },
  {
    matches: /^\S{3,1024}$/,
    reads: api.purchases.get,
    target: () => ({
      label: 'Look up exactly this id',
      kind: 'transaction',
      glyph: 'cart',
      to: '/purchases/$id',
    }),
  },
]

/** Whether the text is the whole id of one thing. */
export function isWhole(text: string): boolean {
  return whole.some(({ matches }) => matches.test(text))
}

/** What the text leads to without a search: before what is found by name, and behind it. */
export function directTargets(text: string): { first: readonly Target[]; last: readonly Target[] } {
  const first = targetsOf(whole, text)
  return { first, last: first.length > 0 ? [] : targetsOf(possible, text) }
}

function targetsOf(all: readonly Direct[], id: string): Target[] {
  return all
    .filter(({ matches, reads }) => matches.test(id) && mayNow(reads))
    .map(({ target }) => {
      const one = target(id)
      const key = one.to === '/accounts/$id' ? id : `${one.kind}-${id}`
      return { ...one, key, params: { id } }
    })
}
