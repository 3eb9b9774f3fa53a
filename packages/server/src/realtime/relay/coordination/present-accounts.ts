import type { Clock } from '../../../kernel/clock.ts'
import type { CallContext } from '../../../kernel/play/calls.ts'
import type { OutgoingFrame } from '../../frames/outgoing-frame.ts'
import { type AccountKey, type Accounts, accountKey } from '../../play/accounts.port.ts'
import type { Caller } from '../../play/rpc/caller.ts'
import type { Present } from '../messages.ts'

export type PresentDeps = {
  clock: Clock
  /** Sends to the connections that an account has on a node. */
  reach(boot: string, account: AccountKey, frame: OutgoingFrame, except?: number): void
  cameOnline(account: AccountKey): void
  wentOffline(account: AccountKey): void
  /** An account is connected to a node where it was not. */
  cameTo(boot: string, account: AccountKey): void
}

/** Who is connected to the nodes of a deployment, as their coordinator has heard. */
export type PresentAccounts = Accounts & {
  /** An edge says who is there: all, or what has changed. */
  heard(boot: string, update: PresenceUpdate): 'taken' | 'missed some'
  /** The edge stops: its clients count as connected for a while. */
  stops(boot: string): void
  /** Forgets an edge, or those that are silent; their clients are gone. */
  forget(isMeant: (boot: string, heardMs: number) => boolean): void
  bootsOf(account: AccountKey): ReadonlySet<string>
  /** A participant that calls from an edge. */
  caller(boot: string, participant: number): Caller | undefined
  /** Forgets everybody without a word. */
  clear(): void
}

export type PresenceUpdate = {
  sequence: number
  isAll: boolean
  here: readonly Present[]
  gone: readonly number[]
}

type Entry = Caller & { boot: string; account: AccountKey; sinceMs: number }

type Account = {
  entries: Set<Entry>
  /** Since when it has had connections without a gap. */
  sinceMs: number
}

type Edge = { entries: Map<number, Entry>; sequence: number; heardMs: number }

/** Clients of a stopping node may take this long to be back, in milliseconds. */
const lingerMs = 10_000

export function createPresentAccounts(deps: PresentDeps): PresentAccounts {
  const { clock } = deps
  const edges = new Map<string, Edge>()
  const accounts = new Map<AccountKey, Account>()
  /** Counts how often everybody was forgotten. */
  let era = 0

  function bootsOf(account: AccountKey): Set<string> {
    return new Set(Array.from(accounts.get(account)?.entries ?? [], ({ boot }) => boot))
  }

  function add(boot: string, edge: Edge, present: Present): void {
    const { participant, user_id, username, age_ms } = present
    if (edge.entries.has(participant)) return
    const context: CallContext = { participant, user_id, username, room_id: null, match_id: null }
    const account = accountKey(context)
    const sinceMs = clock.monotonicMs() - age_ms
    const nothing = { listCalls: undefined, entries: undefined, partyMessages: undefined }
    const entry: Entry = { ...nothing, context, boot, account, sinceMs }
    const known = accounts.get(account)
    const isNewThere = !bootsOf(account).has(boot)
    edge.entries.set(participant, entry)
    if (known === undefined) {
      accounts.set(account, { entries: new Set([entry]), sinceMs })
      deps.cameOnline(account)
    } else {
      known.entries.add(entry)
    }
    if (isNewThere) deps.cameTo(boot, account)
  }

  function remove(edge: Edge, entry: Entry): void {
    if (edge.entries.get(entry.context.participant) === entry) {
      edge.entries.delete(entry.context.participant)
    }
    const known = accounts.get(entry.account)
    if (!known?.entries.delete(entry) || known.entries.size > 0) return
    accounts.delete(entry.account)
    deps.wentOffline(entry.account)
  }

  function removeAll(edge: Edge): void {
    for (const entry of [...edge.entries.values()]) remove(edge, entry)
  }

  function replace(boot: string, edge: Edge, here: readonly Present[]): void {
    const there = new Set(here.map(({ participant }) => participant))
    const gone = [...edge.entries.values()].filter((each) => !there.has(each.context.participant))
    for (const each of here) add(boot, edge, each)
    for (const entry of gone) remove(edge, entry)
  }

  const sinceMs = (account: AccountKey) => accounts.get(account)?.sinceMs ?? Infinity

  return {
    isOnline: (account) => accounts.has(account),
    contextOf(account) {
      const entries = [...(accounts.get(account)?.entries ?? [])]
      return entries.toSorted((a, b) => a.sinceMs - b.sinceMs)[0]?.context
    },
    longestConnected(userIds) {
      const [first = '', ...others] = userIds
      return others.reduce((best, one) => (sinceMs(one) < sinceMs(best) ? one : best), first)
    },
    deliver(account, frame, except) {
      for (const boot of bootsOf(account)) deps.reach(boot, account, frame, except)
    },
    heard(boot, { sequence, isAll, here, gone }) {
      const heardMs = clock.monotonicMs()
      const edge = edges.get(boot) ?? { entries: new Map(), sequence: 0, heardMs }
      if (!isAll && (!edges.has(boot) || sequence !== edge.sequence + 1)) return 'missed some'
      edges.set(boot, edge)
      edge.sequence = sequence
      edge.heardMs = heardMs
      if (isAll) replace(boot, edge, here)
      else for (const each of here) add(boot, edge, each)
      for (const participant of gone) {
        const entry = edge.entries.get(participant)
        if (entry !== undefined) remove(edge, entry)
      }
      return 'taken'
    },
    stops(boot) {
      const edge = edges.get(boot)
      if (edge === undefined) return
      edges.delete(boot)
      const began = era
      clock.after(lingerMs, () => {
        if (began === era) removeAll(edge)
      })
    },
    forget(isMeant) {
      for (const [boot, edge] of [...edges]) {
        if (!isMeant(boot, edge.heardMs)) continue
        edges.delete(boot)
        removeAll(edge)
      }
    },
    bootsOf,
    caller: (boot, participant) => edges.get(boot)?.entries.get(participant),
    clear() {
      era += 1
      edges.clear()
      accounts.clear()
    },
  }
}
