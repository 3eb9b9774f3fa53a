import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { seenBy, seenStore } from './sessions.seen.store.ts'
import { sessionsStore } from './sessions.store.ts'

/** How long ended sessions and entries of the revocation feed are kept, in milliseconds. */
const endedSessionKeptMs = 24 * 3_600_000
const revocationKeptMs = 10 * 60_000

type PrunersDeps = {
  db: Database
  clock: Clock
  config: { access_ttl_sec: number; refresh_ttl_sec: number }
}

/**
 * What retention removes here: each answers how many rows one batch deleted. When players were last
 * seen is written here and nowhere before, so that it costs no request anything.
 */
export function sessionPruners({
  db,
  clock,
  config,
}: PrunersDeps): Record<
  'expired_sessions' | 'revoked_sessions' | 'session_revocations',
  PruneBatch<Transaction>
> {
  const bounds = (keptMs: number, batch_items: number) => ({
    before_unix_ms: clock.nowUnixMs() - keptMs,
    batch_items,
  })
  const forgotten =
    (prune: (typeof sessionsStore)['pruneExpired']): PruneBatch<Transaction> =>
    (items, transact = db.transaction) =>
      transact(async (tx) => {
        const ended = { ...bounds(endedSessionKeptMs, items), ...seenBy(config) }
        const gone = await prune(tx, ended)
        await seenStore.keep(tx, gone, clock.nowUnixMs())
        return gone.length
      })
  return {
    expired_sessions: forgotten(sessionsStore.pruneExpired),
    revoked_sessions: forgotten(sessionsStore.pruneRevoked),
    session_revocations: (items, transact = db.transaction) =>
      transact((tx) => sessionsStore.pruneRevocations(tx, bounds(revocationKeptMs, items))),
  }
}

/** A transaction that drew an earlier number may commit later, within this many milliseconds. */
const lateCommitMs = 30_000
const pageItems = 10_000

/**
 * Reads what other nodes of the same database revoked. It begins with all that the feed still
 * holds, because nothing else reports what happened between a handshake and the first reading.
 * Numbers may become visible out of order, so wherever one is missing the reader looks again for
 * half a minute, and keeps what it has seen beyond that place.
 */
export function createRevocationReader(
  db: Database,
  clock: Clock,
  onRevoked: (sessionIds: readonly string[]) => void,
) {
  /** Up to here everything was read, or will never come. */
  let settledSeq = 0
  const seen = new Map<number, number>()

  async function tellFresh(nowMs: number): Promise<void> {
    let seq = settledSeq
    for (;;) {
      const rows = await sessionsStore.revocationsAfter(db, { seq, limit: pageItems })
      const fresh = rows.filter((row) => !seen.has(row.seq))
      for (const row of fresh) seen.set(row.seq, nowMs)
      if (fresh.length > 0) onRevoked(fresh.map(({ session_id }) => session_id))
      const last = rows.at(-1)
      if (last === undefined || rows.length < pageItems) return
      seq = last.seq
    }
  }

  /** What was read is kept in the order of reading, so the first that is young ends the search. */
  function settle(nowMs: number): void {
    for (const [seq, seenAtMs] of seen) {
      if (nowMs - seenAtMs < lateCommitMs) break
      settledSeq = Math.max(settledSeq, seq)
    }
    while (seen.has(settledSeq + 1)) settledSeq += 1
    for (const seq of seen.keys()) if (seq <= settledSeq) seen.delete(seq)
  }

  return async (): Promise<void> => {
    const nowMs = clock.monotonicMs()
    await tellFresh(nowMs)
    settle(nowMs)
  }
}
