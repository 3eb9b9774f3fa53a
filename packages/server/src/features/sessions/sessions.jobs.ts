import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { sessionsStore } from './sessions.store.ts'

type PruneBatch = (batchItems: number) => Promise<number>

/** How long ended sessions and entries of the revocation feed are kept, in milliseconds. */
const endedSessionKeptMs = 24 * 3_600_000
const revocationKeptMs = 10 * 60_000

/** What retention removes here: each answers how many rows one batch deleted. */
export function sessionPruners(db: Database, clock: Clock): Record<string, PruneBatch> {
  const bounds = (keptMs: number, batch_items: number) => ({
    before_unix_ms: clock.nowUnixMs() - keptMs,
    batch_items,
  })
  return {
    expired_sessions: (items) =>
      db.transaction((tx) => sessionsStore.pruneExpired(tx, bounds(endedSessionKeptMs, items))),
    revoked_sessions: (items) =>
      db.transaction((tx) => sessionsStore.pruneRevoked(tx, bounds(endedSessionKeptMs, items))),
    session_revocations: (items) =>
      db.transaction((tx) => sessionsStore.pruneRevocations(tx, bounds(revocationKeptMs, items))),
  }
}

/** A transaction that drew an earlier number may commit later, within this many milliseconds. */
const lateCommitMs = 30_000

/**
 * Reads what other nodes of the same database revoked. Numbers may become visible out of order, so
 * the reader goes back over the last half minute and remembers what it has told.
 */
export function createRevocationReader(
  db: Database,
  clock: Clock,
  onRevoked: (sessionIds: readonly string[]) => void,
) {
  let settledSeq: number | undefined
  const told = new Map<number, number>()
  return async (): Promise<void> => {
    settledSeq ??= await sessionsStore.newestRevocation(db)
    const now = clock.monotonicMs()
    const rows = await sessionsStore.revocationsAfter(db, settledSeq)
    const fresh = rows.filter(({ seq }) => !told.has(seq))
    for (const { seq } of fresh) told.set(seq, now)
    if (fresh.length > 0) onRevoked(fresh.map(({ session_id }) => session_id))
    for (const [seq, toldAtMs] of told) {
      if (now - toldAtMs < lateCommitMs) break
      told.delete(seq)
      settledSeq = Math.max(settledSeq, seq)
    }
  }
}
