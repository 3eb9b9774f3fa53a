import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { accountLastSeen, sessions } from '../../database/tables/accounts.ts'
import { pick } from '../../database/tables/table.ts'

/** The traces that a session leaves: its owner signed in, and was last given tokens then. */
export const seenRow = pick(
  sessions,
  'account_id',
  'created_at_unix_ms',
  'access_expires_at_unix_ms',
)
type Seen = Row<typeof seenRow>

const keep = batchStatement({
  name: 'sessions.keep-last-seen',
  text: `INSERT INTO account_last_seen (account_id, seen_at_unix_ms)
    SELECT r.account_id, r.seen_at_unix_ms FROM {{rows}} AS r WHERE true
    ON CONFLICT (account_id) DO UPDATE SET seen_at_unix_ms = excluded.seen_at_unix_ms
      WHERE excluded.seen_at_unix_ms > account_last_seen.seen_at_unix_ms`,
  params: accountLastSeen.columns,
})

const ofAccount = statement({
  name: 'sessions.last-seen',
  text: `SELECT MAX(s.created_at_unix_ms) AS created_at_unix_ms,
      MAX(s.access_expires_at_unix_ms) AS access_expires_at_unix_ms,
      (SELECT k.seen_at_unix_ms FROM account_last_seen k WHERE k.account_id = :account_id)
        AS kept_at_unix_ms
    FROM sessions s WHERE s.account_id = :account_id`,
  params: { account_id: 'text' },
  row: {
    created_at_unix_ms: 'time?',
    access_expires_at_unix_ms: 'time?',
    kept_at_unix_ms: 'time?',
  },
  long: true,
})

/** When accounts were last seen; every function takes the transaction first. */
export const seenStore = {
  /** Keeps what sessions say that the same transaction removes. */
  async keep(tx: Queries, gone: readonly Seen[], accessTtlMs: number): Promise<void> {
    const newest = new Map<string, number>()
    for (const { account_id, ...times } of gone) {
      const before = newest.get(account_id) ?? 0
      newest.set(account_id, Math.max(before, lastUse(times, accessTtlMs)))
    }
    // In one order everywhere, so that no two transactions wait for each other.
    const rows = [...newest].sort(([a], [b]) => (a < b ? -1 : 1))
    await tx.each(
      keep,
      rows.map(([account_id, seen_at_unix_ms]) => ({ account_id, seen_at_unix_ms })),
    )
  },

  /** Of all sessions, also those that have ended; null for who never signed in. */
  async ofAccount(db: Queries, account_id: string, accessTtlMs: number): Promise<number | null> {
    const found = await db.get(ofAccount, { account_id })
    const { created_at_unix_ms, access_expires_at_unix_ms, kept_at_unix_ms } = found ?? {}
    const created = created_at_unix_ms ?? 0
    const expires = access_expires_at_unix_ms ?? 0
    const used = lastUse(
      { created_at_unix_ms: created, access_expires_at_unix_ms: expires },
      accessTtlMs,
    )
    return Math.max(used, kept_at_unix_ms ?? 0) || null
  },
}

/** A refresh gives an access token its whole time again. */
function lastUse(times: Omit<Seen, 'account_id'>, accessTtlMs: number): number {
  return Math.max(times.created_at_unix_ms, times.access_expires_at_unix_ms - accessTtlMs)
}
