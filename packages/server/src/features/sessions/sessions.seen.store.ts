import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { accountLastSeen } from '../../database/tables/accounts.ts'

type Lives = { access_ttl_sec: number; refresh_ttl_sec: number }

/** What `usedAt` is worked out with. */
export const seenParams = { access_ttl_ms: 'integer', refresh_ttl_ms: 'integer' } as const

export function seenBy({ access_ttl_sec, refresh_ttl_sec }: Lives): Row<typeof seenParams> {
  return { access_ttl_ms: access_ttl_sec * 1000, refresh_ttl_ms: refresh_ttl_sec * 1000 }
}

const earlier = (a: string, b: string) => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`

/**
 * When the owner of a session was last given tokens, as SQL: a refresh gives both their whole time
 * again. Either time to live may have been another one then, so the earlier answer counts, which is
 * never before the sign-in nor after the end of the session.
 */
export const usedAt = (() => {
  const ofAccess = '(access_expires_at_unix_ms - :access_ttl_ms)'
  const ofRefresh = '(refresh_expires_at_unix_ms - :refresh_ttl_ms)'
  const given = `(${earlier(ofAccess, ofRefresh)})`
  const used = `(${earlier(given, `COALESCE(revoked_at_unix_ms, ${ofAccess})`)})`
  return `CASE WHEN ${used} > created_at_unix_ms THEN ${used} ELSE created_at_unix_ms END`
})()

/** The trace that a session leaves. */
export const seenRow = { account_id: 'text', used_at_unix_ms: 'time' } as const

/** Nothing of deleted accounts, whose rows are held: none is deleted before this commits. */
const keep = batchStatement({
  name: 'sessions.keep-last-seen',
  text: `INSERT INTO account_last_seen (account_id, seen_at_unix_ms)
    SELECT r.account_id, r.seen_at_unix_ms FROM {{rows}} AS r
    WHERE (SELECT a.state FROM accounts a WHERE a.id = r.account_id) <> 'tombstoned'
    ON CONFLICT (account_id) DO UPDATE SET seen_at_unix_ms = excluded.seen_at_unix_ms
      WHERE excluded.seen_at_unix_ms > account_last_seen.seen_at_unix_ms`,
  params: accountLastSeen.columns,
})

const forget = statement({
  name: 'sessions.forget-last-seen',
  text: 'DELETE FROM account_last_seen WHERE account_id = :account_id',
  params: { account_id: 'text' },
})

const ofAccount = statement({
  name: 'sessions.last-seen',
  text: `SELECT MAX(${usedAt}) AS used_at_unix_ms,
      (SELECT k.seen_at_unix_ms FROM account_last_seen k WHERE k.account_id = :account_id)
        AS kept_at_unix_ms
    FROM sessions WHERE account_id = :account_id`,
  params: { account_id: 'text', ...seenParams },
  row: { used_at_unix_ms: 'time?', kept_at_unix_ms: 'time?' },
  long: true,
})

/** When accounts were last seen; every function takes the transaction first. */
export const seenStore = {
  /** Keeps what sessions say that the same transaction removes, holding their accounts. */
  async keep(tx: Queries, gone: readonly Row<typeof seenRow>[], nowUnixMs: number): Promise<void> {
    const newest = new Map<string, number>()
    for (const { account_id, used_at_unix_ms } of gone) {
      const before = newest.get(account_id) ?? 0
      newest.set(account_id, Math.max(before, Math.min(used_at_unix_ms, nowUnixMs)))
    }
    // In one order everywhere, so that no two transactions wait for each other.
    const rows = [...newest].sort(([a], [b]) => (a < b ? -1 : 1))
    await tx.each(
      keep,
      rows.map(([account_id, seen_at_unix_ms]) => ({ account_id, seen_at_unix_ms })),
    )
  },

  /** Removes what is kept of an account whose row the transaction holds. */
  forget: (tx: Queries, account_id: string) => tx.run(forget, { account_id }),

  /** Of all sessions, also those that have ended; null where nothing is known. */
  async ofAccount(
    db: Queries,
    asked: Row<(typeof ofAccount)['params']>,
    nowUnixMs: number,
  ): Promise<number | null> {
    const { used_at_unix_ms, kept_at_unix_ms } = (await db.get(ofAccount, asked)) ?? {}
    const seen = Math.max(used_at_unix_ms ?? 0, kept_at_unix_ms ?? 0)
    return Math.min(seen, nowUnixMs) || null
  },
}
