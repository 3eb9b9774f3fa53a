import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Done, Mutation } from '../../kernel/mutation.ts'
import { consoleSessionsStore } from './console-sessions.store.ts'

export type ConsoleSessionsDeps = {
  db: Database
  clock: Clock
  /** Whether an account has this id, in whatever state. */
  accountExists(tx: Queries, id: string): Promise<boolean>
  /** When somebody was last given tokens; null where nothing is known. */
  lastSeen(account_id: string): Promise<number | null>
  /** Revokes a session in the transaction; false when it was revoked already. */
  revokeSession(tx: Transaction, id: string): Promise<boolean>
  /** Revokes every session of an account whose row the transaction holds; answers their ids. */
  revokeSessions(tx: Transaction, account_id: string): Promise<string[]>
  /** Commits a change that revokes sessions, then closes their connections. */
  endSessions<T>(
    mutation: Mutation,
    change: (tx: Transaction) => Promise<Done<T> & { revoked: readonly string[] }>,
  ): Promise<T>
  /** Whether a session has a connection on this node. */
  isConnected(sessionId: string): boolean
}

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>

type Page = { limit: number; offset: number }
type Revoked = { sessions_revoked: number }
type Ending = Done<Revoked> & { revoked: readonly string[] }

/** Sessions of an account as operators see and end them. No token or digest is ever shown. */
export function createConsoleSessions(deps: ConsoleSessionsDeps) {
  const { db, clock, isConnected } = deps
  const rules = createRules(deps)

  return {
    /** Live sessions of an account in whatever state, newest first, and how many there are. */
    async list(account_id: string, page: Page) {
      const asked = { account_id, now_unix_ms: clock.nowUnixMs() }
      const [rows, total] = await Promise.all([
        consoleSessionsStore.page(db, { ...asked, ...page }),
        consoleSessionsStore.count(db, asked),
      ])
      if (total === 0 && !(await deps.accountExists(db, account_id))) throw unknownAccount()
      return { items: rows.map((row) => ({ ...row, connected: isConnected(row.id) })), total }
    },

    /** When the player of an account was last seen, also after the sessions are gone. */
    async lastSeen(account_id: string) {
      const seen_at_unix_ms = await deps.lastSeen(account_id)
      const known = seen_at_unix_ms !== null || (await deps.accountExists(db, account_id))
      if (!known) throw unknownAccount()
      return { seen_at_unix_ms }
    },

    /** Ends every session of an account, which stays active. */
    revokeAll: (mutation: Mutation, account_id: string): Promise<Revoked> =>
      deps.endSessions(mutation, (tx) => rules.revokeAll(tx, account_id)),

    /** Ends one session of an account; nothing happens to one that has ended already. */
    revoke: (mutation: Mutation, account_id: string, id: string): Promise<Revoked> =>
      deps.endSessions(mutation, (tx) => rules.revoke(tx, { account_id, id })),
  }
}

/** The changes themselves, within whatever transaction carries them. */
function createRules(deps: ConsoleSessionsDeps) {
  const { clock } = deps
  return {
    async revokeAll(tx: Transaction, account_id: string): Promise<Ending> {
      if (!(await consoleSessionsStore.lockAccount(tx, account_id))) throw unknownAccount()
      const asked = { account_id, now_unix_ms: clock.nowUnixMs() }
      // Those that have run out are revoked as well, and do not count.
      const sessions_revoked = await consoleSessionsStore.count(tx, asked)
      const revoked = await deps.revokeSessions(tx, account_id)
      const details = `sessions_revoked=${sessions_revoked}`
      return { answer: { sessions_revoked }, target: targetOf(account_id), details, revoked }
    },

    async revoke(tx: Transaction, key: { account_id: string; id: string }): Promise<Ending> {
      const { account_id, id } = key
      const found = await consoleSessionsStore.find(tx, key)
      if (found === undefined) {
        const known = await deps.accountExists(tx, account_id)
        throw known ? refuse.notFound('the account has no such session') : unknownAccount()
      }
      const isOver = found.refresh_expires_at_unix_ms <= clock.nowUnixMs()
      const revoked = !isOver && (await deps.revokeSession(tx, id)) ? [id] : []
      const sessions_revoked = revoked.length
      const details = `session=${id} sessions_revoked=${sessions_revoked}`
      return { answer: { sessions_revoked }, target: targetOf(account_id), details, revoked }
    },
  }
}

function targetOf(account_id: string): string {
  return `account ${account_id}`
}

function unknownAccount() {
  return refuse.notFound('no account has this id')
}
