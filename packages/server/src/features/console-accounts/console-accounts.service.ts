import type {
  AccountChange,
  AccountDetail,
  AccountExport,
  AccountName,
  AccountRow,
  NewAccount,
} from '@guildhall/contract'
import {
  type Database,
  type Queries,
  type Transaction,
  UniqueViolation,
} from '../../database/database.ts'
import type { Actor } from '../../kernel/audit/actor.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Done, Mutate, Mutation } from '../../kernel/mutation.ts'
import type { RelatedReads } from '../feature.ts'
import { consoleAccountsStore } from './console-accounts.store.ts'
import { searchStore } from './search/search.store.ts'

export type ConsoleAccountsDeps = {
  db: Database
  clock: Clock
  ids: Ids
  mutate: Mutate<Transaction>
  /** Revokes every session of an account in the same transaction; answers with their ids. */
  revokeSessions(tx: Transaction, id: string): Promise<string[]>
  /** Forgets when the player of an account was last seen. */
  forgetLastSeen(tx: Transaction, id: string): Promise<void>
  /** Commits a change that revokes sessions, then closes their connections. */
  endSessions<T>(
    mutation: Mutation,
    change: (tx: Transaction) => Promise<Done<T> & { revoked: readonly string[] }>,
  ): Promise<T>
  /** What the features keep of an account, for the export. */
  related: RelatedReads
}

export type ConsoleAccounts = ReturnType<typeof createConsoleAccounts>

/**
 * Accounts as operators run them. Every change of an account's state first locks its row, for which
 * a session that is being opened or refreshed holds a share: a ban waits for these, and revokes
 * them as well.
 */
export function createConsoleAccounts(deps: ConsoleAccountsDeps) {
  const { db, mutate } = deps
  const rules = createRules(deps)

  async function exactly(id: string | undefined, username: string | undefined) {
    if (username !== undefined) {
      const rows = await searchStore.byUsername(db, username)
      return rows.filter((row) => id === undefined || row.id === id)
    }
    const found = id === undefined ? undefined : await consoleAccountsStore.byId(db, id)
    return found === undefined ? [] : [found]
  }

  /** Both reads look into every account; after the last page there is nothing to count. */
  async function filtered(filter: string, page: { offset: number; limit: number }) {
    const { offset, limit } = page
    const items = await consoleAccountsStore.filteredPage(db, { ...page, filter })
    const isLast = items.length < limit && (items.length > 0 || offset === 0)
    const total = isLast
      ? offset + items.length
      : await consoleAccountsStore.countFiltered(db, filter)
    return { items, total }
  }

  return {
    /**
     * Accounts in every state by username; `filter` is a part of the id or the username. Exactly
     * an `id` or a `username` are found by an index.
     */
    async list({ filter = '', id, username, ...page }: AccountQuery) {
      if (id !== undefined || username !== undefined) {
        const exact = await exactly(id, username)
        const found = exact.filter(
          (row) => row.id.includes(filter) || row.username.includes(filter),
        )
        const { offset, limit } = page
        return { items: found.slice(offset, offset + limit), total: found.length }
      }
      if (filter !== '') return filtered(filter, page)
      const [items, total] = await Promise.all([
        consoleAccountsStore.page(db, page),
        consoleAccountsStore.count(db),
      ])
      return { items, total }
    },

    get: (id: string): Promise<AccountDetail> => rules.detail(db, id),

    /** The names of accounts in every state, in the order asked and each once. */
    async names(user_ids: readonly string[]): Promise<AccountName[]> {
      const asked = [...new Set(user_ids)]
      const rows = await consoleAccountsStore.namesById(db, asked)
      const named = new Map(rows.map((row) => [row.user_id, row]))
      return asked.map((id) => named.get(id)).filter((row) => row !== undefined)
    },

    /** An account in whatever state, without what it signs in with. */
    find: (id: string): Promise<AccountWithMetadata | undefined> =>
      consoleAccountsStore.byId(db, id),

    /** Active accounts in the order in which they were asked for, each once. */
    async lookup({ user_ids = [], usernames = [] }: AccountKeys): Promise<AccountWithMetadata[]> {
      const [byId, byUsername] = await Promise.all([
        consoleAccountsStore.activeById(db, user_ids),
        consoleAccountsStore.activeByUsername(db, usernames),
      ])
      const ids = new Map(byId.map((row) => [row.id, row]))
      const names = new Map(byUsername.map((row) => [row.username, row]))
      const found = [...user_ids.map((id) => ids.get(id)), ...usernames.map((n) => names.get(n))]
      const rows = found.filter((row) => row !== undefined)
      return [...new Map(rows.map((row) => [row.id, row])).values()]
    },

    create: (mutation: Mutation, account: NewAccount): Promise<AccountRow> =>
      mutate(mutation, (tx) => rules.create(tx, account), { isolation: 'read committed' }),

    update: (mutation: Mutation, id: string, change: AccountChange): Promise<AccountRow> =>
      mutate(mutation, (tx) => rules.update(tx, id, change), {
        isolation: 'read committed',
      }).catch(asUsernameConflict),

    ban: (mutation: Mutation, id: string): Promise<AccountRow> =>
      deps.endSessions(mutation, (tx) => rules.setState(tx, id, 'disabled')),

    unban: (mutation: Mutation, id: string): Promise<AccountRow> =>
      deps.endSessions(mutation, (tx) => rules.setState(tx, id, 'active')),

    delete: (mutation: Mutation, id: string): Promise<undefined> =>
      deps.endSessions(mutation, (tx) => rules.delete(tx, id)),

    /** Everything that belongs to an account, as one state of the database. */
    export: (actor: Actor, id: string): Promise<AccountExport> =>
      db.longRead(async (tx) => {
        const detail = await rules.detail(tx, id)
        const found: [name: string, value: unknown][] = []
        for (const [name, { scope, read }] of Object.entries<AnyRead>(deps.related)) {
          const isSeen =
            scope === undefined || actor.kind !== 'api_key' || actor.scopes.includes(scope)
          found.push([name, isSeen ? await read(tx, id) : null])
        }
        return { ...detail, related: Object.fromEntries(found) as AccountExport['related'] }
      }),
  }
}

type AnyRead = RelatedReads[keyof RelatedReads]

export type AccountWithMetadata = AccountRow & Pick<AccountDetail, 'metadata'>
type AccountKeys = {
  user_ids?: readonly string[] | undefined
  usernames?: readonly string[] | undefined
}

export type AccountQuery = {
  filter?: string | undefined
  id?: string | undefined
  username?: string | undefined
  limit: number
  offset: number
}

/** The reads and changes themselves, within whatever transaction carries them. */
function createRules({ clock, ids, revokeSessions, forgetLastSeen }: ConsoleAccountsDeps) {
  return {
    async detail(tx: Queries, id: string): Promise<AccountDetail> {
      const account = await consoleAccountsStore.byId(tx, id)
      if (account === undefined) throw unknownAccount()
      return { ...account, identities: await consoleAccountsStore.identitiesOf(tx, id) }
    },

    async create(tx: Transaction, account: NewAccount): Promise<Done<AccountRow>> {
      const { username, display_name, metadata } = account
      const row = await consoleAccountsStore.insert(tx, {
        id: ids.accountId(),
        username,
        display_name: display_name ?? null,
        metadata: metadata ?? null,
        now_unix_ms: clock.nowUnixMs(),
      })
      if (row === undefined) throw usernameTaken()
      return { answer: row, target: targetOf(row.id), details: `username=${username}` }
    },

    async update(tx: Transaction, id: string, change: AccountChange): Promise<Done<AccountRow>> {
      const { username, display_name, metadata } = change
      const sent = Object.entries({ username, display_name, metadata })
        .filter(([, value]) => value !== undefined)
        .map(([name]) => name)
      const row = await consoleAccountsStore.update(tx, {
        id,
        username: username ?? null,
        keep_display_name: display_name === undefined,
        display_name: display_name || null,
        metadata: metadata ?? null,
        now_unix_ms: clock.nowUnixMs(),
      })
      if (row === undefined) throw unknownAccount()
      return { answer: row, target: targetOf(id), details: `fields=${sent.join(',')}` }
    },

    async setState(tx: Transaction, id: string, state: 'active' | 'disabled') {
      const before = await consoleAccountsStore.lock(tx, id)
      if (before === undefined) throw unknownAccount()
      if (before.state === 'tombstoned') throw refuse.conflict('the account is deleted')
      const changes = before.state !== state
      const row = changes ? await changeState(tx, id, state) : before
      const revoked = changes && state === 'disabled' ? await revokeSessions(tx, id) : []
      const details = `state=${state} sessions_revoked=${revoked.length}`
      return { answer: row, target: targetOf(id), details, revoked }
    },

    async delete(tx: Transaction, id: string) {
      const before = await consoleAccountsStore.lock(tx, id)
      if (before === undefined) throw unknownAccount()
      if (before.state !== 'tombstoned') await changeState(tx, id, 'tombstoned')
      const unlinked = await consoleAccountsStore.unlinkIdentities(tx, id)
      const revoked = await revokeSessions(tx, id)
      await forgetLastSeen(tx, id)
      const details = `credentials_unlinked=${unlinked} sessions_revoked=${revoked.length}`
      return { answer: undefined, target: targetOf(id), details, revoked }
    },
  }

  async function changeState(tx: Transaction, id: string, state: AccountRow['state']) {
    const change = { id, state, now_unix_ms: clock.nowUnixMs() }
    const row = await consoleAccountsStore.setState(tx, change)
    if (row === undefined) throw new Error('a locked account is gone')
    return row
  }
}

function targetOf(id: string): string {
  return `account ${id}`
}

function unknownAccount() {
  return refuse.notFound('no account has this id')
}

function usernameTaken() {
  return refuse.conflict('username is taken')
}

function asUsernameConflict(error: unknown): never {
  if (error instanceof UniqueViolation) throw usernameTaken()
  throw error
}
