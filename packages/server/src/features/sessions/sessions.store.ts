import type { Queries, Transaction } from '../../database/database.ts'
import { batchStatement, lookup, type Row, statement } from '../../database/statement.ts'
import { inTheirOrder } from '../../database/writes/in-their-order.ts'
import { seenParams, seenRow, usedAt } from './sessions.seen.store.ts'

/** A session and its account by the digest of the access token, live or not. */
export const accessLookup = lookup({
  name: 'sessions.by-access-digest',
  text: `SELECT r.access_digest, s.id AS session_id, s.access_expires_at_unix_ms,
      s.refresh_expires_at_unix_ms, s.revoked_at_unix_ms, a.id AS user_id, a.username,
      a.display_name, a.state
    FROM {{rows}} AS r
    JOIN sessions s ON s.access_digest = r.access_digest
    JOIN accounts a ON a.id = s.account_id`,
  params: { access_digest: 'bytes' },
  row: {
    access_digest: 'bytes',
    session_id: 'text',
    access_expires_at_unix_ms: 'integer',
    refresh_expires_at_unix_ms: 'integer',
    revoked_at_unix_ms: 'integer?',
    user_id: 'text',
    username: 'text',
    display_name: 'text?',
    state: 'text',
  },
  cached: {
    table: 'sessions',
    column: 'access_digest',
    joined: { table: 'accounts', column: 'id', as: 'user_id' },
  },
})

/** The two digests of one refresh token; the second is found through an index. */
const refreshParams = { refresh_digest: 'bytes', access_digest: 'bytes' } as const
export type RefreshDigests = Row<typeof refreshParams>

const refreshLookup = batchStatement({
  name: 'sessions.by-refresh-digests',
  text: `SELECT r.refresh_digest, r.access_digest, s.id AS session_id FROM {{rows}} AS r
    JOIN sessions s ON s.access_digest = r.access_digest
      AND s.refresh_digest = r.refresh_digest`,
  params: refreshParams,
  row: { ...refreshParams, session_id: 'text' },
})

const rotatedLookup = lookup({
  name: 'sessions.by-rotated-digest',
  text: `SELECT r.refresh_digest, d.session_id FROM {{rows}} AS r
    JOIN rotated_refresh_digests d ON d.refresh_digest = r.refresh_digest`,
  params: { refresh_digest: 'bytes' },
  row: { refresh_digest: 'bytes', session_id: 'text' },
})

const storedParams = {
  id: 'text',
  access_digest: 'bytes',
  refresh_digest: 'bytes',
  created_at_unix_ms: 'integer',
  access_expires_at_unix_ms: 'integer',
  refresh_expires_at_unix_ms: 'integer',
} as const
const stored = Object.keys(storedParams)

/**
 * Adds the sessions whose account is active. The lock keeps a ban from slipping in between the
 * check of the account and the insertion. The same statement has just read the account, and
 * accounts are never removed, so the column needs no foreign key, whose check of each row would
 * cost PostgreSQL as much as the insertion. In subqueries PostgreSQL seeks each account by its
 * key; of a join it would read all of a table of some thousand rows for a few logins.
 */
function insertion(accountOfRow: string): string {
  return `INSERT INTO sessions (account_id, ${stored.join(', ')})
    SELECT r.active_id, ${stored.map((column) => `r.${column}`).join(', ')}
    FROM (SELECT r.*, (SELECT a.id FROM accounts a
        WHERE a.id = ${accountOfRow} AND a.state = 'active' {{for share of a}}) AS active_id
      FROM {{rows}} AS r {{fence}}) AS r
    WHERE r.active_id IS NOT NULL`
}

const sessionParams = { account_id: 'text', ...storedParams } as const
export type NewSession = Row<typeof sessionParams>

const insertForActive = batchStatement({
  name: 'sessions.insert',
  text: `${insertion('r.account_id')} RETURNING id`,
  params: sessionParams,
  row: { id: 'text' },
})

const knownParams = { provider: 'text', external_id: 'text', ...storedParams } as const
export type KnownSession = Row<typeof knownParams>

/** Of accounts that the same transaction adds. */
const insertFirst = batchStatement({
  name: 'sessions.insert-first',
  text: `INSERT INTO sessions (account_id, ${stored.join(', ')}) {{given}}`,
  params: sessionParams,
})

/** A login by a credential alone: whose it is, whether they may, and the session in one go. */
const insertForKnown = batchStatement({
  name: 'sessions.insert-for-known',
  text: `${insertion(`(SELECT i.account_id FROM identities i
      WHERE i.provider = r.provider AND i.external_id = r.external_id)`)}
    RETURNING id, account_id,
      (SELECT username FROM accounts WHERE accounts.id = sessions.account_id) AS username`,
  params: knownParams,
  row: { id: 'text', account_id: 'text', username: 'text' },
})

/**
 * Compare-and-set: of two refreshes with one token only the first finds it. The lock on the account
 * comes before the one on the session, as in a ban, so that neither waits for the other. The fence
 * keeps PostgreSQL from beginning with all active accounts or live sessions, which it takes for few
 * as long as they were never analysed.
 */
const rotate = batchStatement({
  name: 'sessions.rotate',
  text: `UPDATE sessions
    SET access_digest = o.next_access_digest, refresh_digest = o.next_refresh_digest,
      access_expires_at_unix_ms = o.access_expires, refresh_expires_at_unix_ms = o.refresh_expires
    FROM (SELECT r.access_digest AS used_access_digest,
        r.refresh_digest AS used_refresh_digest, r.next_access_digest, r.next_refresh_digest,
        r.access_expires_at_unix_ms AS access_expires,
        r.refresh_expires_at_unix_ms AS refresh_expires
      FROM (SELECT r.*, s.account_id, s.revoked_at_unix_ms, s.refresh_expires_at_unix_ms AS expires
        FROM {{rows}} AS r JOIN sessions s ON s.access_digest = r.access_digest
          AND s.refresh_digest = r.refresh_digest {{fence}}) AS r
      JOIN accounts a ON a.id = r.account_id
      WHERE r.revoked_at_unix_ms IS NULL AND r.expires > r.now_unix_ms AND a.state = 'active'
      {{for share of a}}) AS o
    WHERE sessions.access_digest = o.used_access_digest
      AND sessions.refresh_digest = o.used_refresh_digest AND sessions.revoked_at_unix_ms IS NULL
    RETURNING sessions.id AS session_id, sessions.account_id AS account_id,
      sessions.access_digest AS access_digest,
      (SELECT username FROM accounts WHERE accounts.id = sessions.account_id) AS username`,
  params: {
    ...refreshParams,
    next_access_digest: 'bytes',
    next_refresh_digest: 'bytes',
    access_expires_at_unix_ms: 'integer',
    refresh_expires_at_unix_ms: 'integer',
    now_unix_ms: 'integer',
  },
  row: { session_id: 'text', account_id: 'text', access_digest: 'bytes', username: 'text' },
})
export type Rotation = Row<(typeof rotate)['params']>
/** A session as it is now, with the digest of its new access token. */
export type Rotated = Row<(typeof rotate)['row']>

/**
 * The session that a refresh token opens but for its account, which is not active. The state is
 * read in a way that no index serves: the few accounts that are not active are the wrong start.
 */
const ofInactive = statement({
  name: 'sessions.of-inactive',
  text: `SELECT s.id AS session_id FROM sessions s JOIN accounts a ON a.id = s.account_id
    WHERE s.access_digest = :access_digest AND s.refresh_digest = :refresh_digest
      AND s.revoked_at_unix_ms IS NULL AND s.refresh_expires_at_unix_ms > :now_unix_ms
      AND (a.state || '') <> 'active'
    {{for share of a}}`,
  params: { ...refreshParams, now_unix_ms: 'integer' },
  row: { session_id: 'text' },
})

const storeRotated = batchStatement({
  name: 'sessions.store-rotated',
  text: 'INSERT INTO rotated_refresh_digests (refresh_digest, session_id) {{given}}',
  params: { refresh_digest: 'bytes', session_id: 'text' },
})

const revoke = statement({
  name: 'sessions.revoke',
  text: `UPDATE sessions SET revoked_at_unix_ms = :now_unix_ms
    WHERE id = :id AND revoked_at_unix_ms IS NULL`,
  params: { id: 'text', now_unix_ms: 'integer' },
})

const revokeAllOf = statement({
  name: 'sessions.revoke-all-of',
  text: `UPDATE sessions SET revoked_at_unix_ms = :now_unix_ms
    WHERE account_id = :account_id AND revoked_at_unix_ms IS NULL
    RETURNING id`,
  params: { account_id: 'text', now_unix_ms: 'integer' },
  row: { id: 'text' },
})

const announceRevocations = batchStatement({
  name: 'sessions.announce-revocations',
  text: `INSERT INTO session_revocations (session_id, revoked_at_unix_ms)
    SELECT r.id, r.now_unix_ms FROM {{rows}} AS r`,
  params: { id: 'text', now_unix_ms: 'integer' },
})

const revocationsAfter = statement({
  name: 'sessions.revocations-after',
  text: `SELECT seq, session_id FROM session_revocations
    WHERE seq > :seq ORDER BY seq LIMIT :limit`,
  params: { seq: 'integer', limit: 'integer' },
  row: { seq: 'integer', session_id: 'text' },
})

const live = batchStatement({
  name: 'sessions.live',
  text: `SELECT s.id FROM {{rows}} AS r
    JOIN sessions s ON s.id = r.id
    JOIN accounts a ON a.id = s.account_id
    WHERE s.revoked_at_unix_ms IS NULL AND s.refresh_expires_at_unix_ms > r.now_unix_ms
      AND a.state = 'active'`,
  params: { id: 'text', now_unix_ms: 'integer' },
  row: { id: 'text' },
})

const pruneParams = { before_unix_ms: 'integer', batch_items: 'integer' } as const

/**
 * The lock on the account comes before the one on the session, as in a deletion of the account. In
 * a subquery PostgreSQL seeks each account by its key, however many it takes the batch for.
 */
function ended(what: string): string {
  return `DELETE FROM sessions WHERE id IN (
    SELECT o.id FROM (SELECT s.id,
        (SELECT a.id FROM accounts a WHERE a.id = s.account_id {{for share of a}}) AS held_id
      FROM sessions s WHERE ${what} < :before_unix_ms LIMIT :batch_items {{fence}}) AS o
    WHERE o.held_id IS NOT NULL)
    RETURNING account_id, ${usedAt} AS used_at_unix_ms`
}

const pruneEndedParams = { ...pruneParams, ...seenParams } as const

const pruneExpired = statement({
  name: 'sessions.prune-expired',
  text: ended('s.refresh_expires_at_unix_ms'),
  params: pruneEndedParams,
  row: seenRow,
})

const pruneRevoked = statement({
  name: 'sessions.prune-revoked',
  text: ended('s.revoked_at_unix_ms'),
  params: pruneEndedParams,
  row: seenRow,
})

const pruneRevocations = statement({
  name: 'sessions.prune-revocations',
  text: `DELETE FROM session_revocations WHERE seq IN (
    SELECT seq FROM session_revocations WHERE revoked_at_unix_ms < :before_unix_ms
    LIMIT :batch_items)`,
  params: pruneParams,
})

/** Queries about sessions; every function takes the transaction first. */
export const sessionsStore = {
  /** Adds the sessions whose credential belongs to an active account; answers with those. */
  insertForKnown: (db: Queries, sessions: readonly KnownSession[]) =>
    db.each(insertForKnown, sessions),
  /** The ids of the sessions that were added: those whose account is active. */
  insertForActive: async (tx: Queries, sessions: readonly NewSession[]) =>
    new Set((await tx.each(insertForActive, sessions)).map(({ id }) => id)),
  /** Adds the first sessions of accounts that the same transaction adds, at its commit. */
  insertFirst: (tx: Transaction, sessions: readonly NewSession[]) =>
    tx.atCommit(insertFirst, sessions),
  /** The sessions that these digests name, live or not, each once. */
  async named(
    tx: Queries,
    digests: { access_digest: Uint8Array | undefined; refresh: RefreshDigests | undefined },
  ): Promise<string[]> {
    const { access_digest, refresh } = digests
    const [byAccess, byRefresh] = await inTheirOrder([
      tx.each(accessLookup, access_digest === undefined ? [] : [{ access_digest }]),
      tx.each(refreshLookup, refresh === undefined ? [] : [refresh]),
    ])
    return [...new Set([...byAccess, ...byRefresh].map(({ session_id }) => session_id))]
  },
  /** Gives sessions their next tokens; answers with those whose token was usable. */
  rotate: (db: Queries, changes: readonly Rotation[]) => db.each(rotate, changes),
  /** Keeps the digests that were exchanged, at the commit, so that their replay is known. */
  storeRotated(tx: Transaction, changes: readonly Rotation[], rotated: readonly Rotated[]) {
    const sessions = new Map(rotated.map((row) => [hexOf(row.access_digest), row.session_id]))
    const rows = changes.flatMap(({ refresh_digest, next_access_digest }) => {
      const session_id = sessions.get(hexOf(next_access_digest))
      return session_id === undefined ? [] : [{ refresh_digest, session_id }]
    })
    tx.atCommit(storeRotated, rows)
  },
  /** Revokes the session of a refresh token whose account is not active; answers its id. */
  async endOfInactive(tx: Queries, used: Row<(typeof ofInactive)['params']>) {
    const { session_id: id } = (await tx.get(ofInactive, used)) ?? {}
    if (id === undefined) return undefined
    const { now_unix_ms } = used
    return (await sessionsStore.revoke(tx, { id, now_unix_ms })) ? id : undefined
  },
  findRotated: (tx: Queries, refresh_digest: Uint8Array) =>
    tx.each(rotatedLookup, [{ refresh_digest }]),
  /** Revokes and writes to the feed that every node reads; false when it was revoked already. */
  async revoke(tx: Queries, session: { id: string; now_unix_ms: number }) {
    if ((await tx.run(revoke, session)) === 0) return false
    await tx.each(announceRevocations, [session])
    return true
  },
  /** Revokes every session of an account and writes to the feed; answers with their ids. */
  async revokeAllOf(tx: Queries, account: { account_id: string; now_unix_ms: number }) {
    const { now_unix_ms } = account
    const revoked = await tx.all(revokeAllOf, account)
    await tx.each(
      announceRevocations,
      revoked.map(({ id }) => ({ id, now_unix_ms })),
    )
    return revoked.map(({ id }) => id)
  },
  /** Entries of the feed in their order; a page shorter than `limit` is the last one. */
  revocationsAfter: (tx: Queries, page: { seq: number; limit: number }) =>
    tx.all(revocationsAfter, page),
  live: async (tx: Queries, ids: readonly string[], now_unix_ms: number) =>
    new Set(
      (
        await tx.each(
          live,
          ids.map((id) => ({ id, now_unix_ms })),
        )
      ).map(({ id }) => id),
    ),
  /** Removes sessions that ended, and holds their accounts; answers whose they were. */
  pruneExpired: (tx: Queries, bounds: Row<typeof pruneEndedParams>) => tx.all(pruneExpired, bounds),
  pruneRevoked: (tx: Queries, bounds: Row<typeof pruneEndedParams>) => tx.all(pruneRevoked, bounds),
  pruneRevocations: (tx: Queries, bounds: Row<typeof pruneParams>) =>
    tx.run(pruneRevocations, bounds),
}

/** Bytes as a key of a map. */
export function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex')
}
