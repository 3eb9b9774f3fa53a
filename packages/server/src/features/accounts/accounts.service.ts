import type { JsonObject, Profile } from '@guildhall/contract'
import {
  type Database,
  type Queries,
  type Transaction,
  UniqueViolation,
} from '../../database/database.ts'
import { mergedWrites } from '../../database/writes/merged-writes.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Ids } from '../../kernel/ids.ts'
import {
  accountsStore,
  type DisplayName,
  identityLookup,
  type Provider,
  type StoredAccount,
} from './accounts.store.ts'

export type AccountsDeps = { db: Database; clock: Clock; ids: Ids }

export type Credential = { provider: Provider; external_id: string }

/** The account behind a known credential. */
export type Identity = {
  account_id: string
  username: string
  state: string
  password_verifier: string | null
}

export type NewAccount = Credential & {
  username: string
  display_name: string | undefined
  metadata: JsonObject | undefined
  password_verifier: string | null
}

type ProfileRow = { id: string; username: string; display_name: string | null }
type ProfilePatch = {
  username?: string | null | undefined
  display_name?: string | null | undefined
}
type UserRenaming = ProfilePatch & { id: string; username: string; now_unix_ms: number }

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts({ db, clock, ids }: AccountsDeps) {
  function storedOf({ display_name, metadata, ...account }: NewAccount): StoredAccount {
    return {
      ...account,
      id: ids.accountId(),
      display_name: display_name ?? null,
      metadata: metadata ?? null,
      now_unix_ms: clock.nowUnixMs(),
    }
  }

  /**
   * An account that is patched many times at once is written once: with the last of its names, as
   * if the others had come right before. Each is answered the name that it set.
   */
  const rename = mergedWrites<DisplayName, ProfileRow | undefined>(db, {
    itemsMax: 256,
    async run(asked) {
      const last = new Map(asked.map((name) => [name.id, name]))
      // In one order for all nodes, so that none waits in a circle.
      const names = [...last.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
      const renamed = await accountsStore.setDisplayNames(db, names)
      const usernames = new Map(renamed.map(({ id, username }) => [id, username]))
      return asked.map(({ id, display_name }) => {
        const username = usernames.get(id)
        return {
          ok: true,
          value: username === undefined ? undefined : { id, username, display_name },
        }
      })
    },
  })

  /** One at a time: those of one account would only wait for its row, each with a connection. */
  const renameUser = mergedWrites<UserRenaming, ProfileRow | undefined>(db, {
    itemsMax: 1,
    run: (asked) =>
      Promise.all(
        asked.map(async ({ display_name, ...change }) => {
          const names = {
            keep_display_name: display_name === undefined,
            display_name: display_name ?? null,
          }
          const row = await accountsStore
            .updateProfile(db, { ...change, ...names })
            .catch(asUsernameConflict)
          return { ok: true, value: row }
        }),
      ),
  })

  return {
    /** Whether an account has this id, in whatever state: for features that belong to accounts. */
    exists: (tx: Queries, id: string): Promise<boolean> => accountsStore.exists(tx, id),

    /** The state of an account, which nothing changes before `tx` ends; undefined for none. */
    stateOf: (tx: Transaction, id: string): Promise<string | undefined> =>
      accountsStore.stateOf(tx, id),

    findIdentity: async (credential: Credential): Promise<Identity | undefined> =>
      db.find(identityLookup, credential),

    /**
     * Adds active accounts with their first credentials, each unless somebody registered either in
     * the meantime. After `credential taken` the transaction must be given up, because it has added
     * the account already; the other outcomes leave nothing behind.
     */
    async register(tx: Transaction, accounts: readonly NewAccount[]): Promise<Registration[]> {
      const rows = accounts.map(storedOf)
      const { added, identified } = await accountsStore.register(tx, rows)
      const left = rows.filter(({ id }) => !added.has(id))
      const known = new Map(
        (await accountsStore.identities(tx, left)).map((row) => [credentialKey(row), row]),
      )
      return rows.map((row): Registration => {
        if (identified.has(row.id)) return { outcome: 'registered', account_id: row.id }
        if (added.has(row.id)) return { outcome: 'credential taken' }
        const identity = known.get(credentialKey(row))
        return identity ? { outcome: 'known', identity } : { outcome: 'username taken' }
      })
    },

    /** Replaces a verifier of weaker parameters, unless somebody else just did. */
    async strengthenVerifier(email: string, change: { weaker: string; stronger: string }) {
      await accountsStore.replaceVerifier(db, { email, ...change })
    },

    /** Changes what players may change of their own account; `display_name: null` clears it. */
    async patchProfile(id: string, { username, display_name }: ProfilePatch): Promise<Profile> {
      const now_unix_ms = clock.nowUnixMs()
      const row =
        username == null
          ? await rename({ id, display_name: display_name ?? null, now_unix_ms })
          : await renameUser({ id, username, display_name, now_unix_ms })
      if (row === undefined) throw refuse.unauthenticated('the account is no longer active')
      return profileOf(row)
    },

    /** The usernames of those of the accounts that are active, by their ids. */
    async usernames(user_ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const found = await accountsStore.activeById(db, user_ids)
      return new Map(found.map(({ id, username }) => [id, username]))
    },

    /** Active accounts in the order in which they were asked for, each once. */
    async lookup(keys: { user_ids: readonly string[]; usernames: readonly string[] }) {
      const [byId, byUsername] = await Promise.all([
        accountsStore.activeById(db, keys.user_ids),
        accountsStore.activeByUsername(db, keys.usernames),
      ])
      const ids = new Map(byId.map((row) => [row.id, row]))
      const names = new Map(byUsername.map((row) => [row.username, row]))
      const found = [
        ...keys.user_ids.map((id) => ids.get(id)),
        ...keys.usernames.map((username) => names.get(username)),
      ].filter((row) => row !== undefined)
      return [...new Map(found.map((row) => [row.id, row])).values()].map(profileOf)
    },
  }
}

export type Registration =
  | { outcome: 'registered'; account_id: string }
  | { outcome: 'known'; identity: Identity }
  | { outcome: 'username taken' }
  | { outcome: 'credential taken' }

function credentialKey({ provider, external_id }: { provider: string; external_id: string }) {
  return `${provider} ${external_id}`
}

export function profileOf(row: ProfileRow): Profile {
  const { id, username, display_name } = row
  return display_name === null ? { user_id: id, username } : { user_id: id, username, display_name }
}

function asUsernameConflict(error: unknown): never {
  if (error instanceof UniqueViolation) throw refuse.conflict('username is taken')
  throw error
}
