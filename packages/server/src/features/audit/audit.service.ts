import type { AuditEntry, auditApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Transaction } from '../../database/database.ts'
import type { AuditRecorder, RecordedEvent } from '../../kernel/audit/recorder.ts'
import { ownRowsWritten } from '../../kernel/batching/row-queue.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import { type AuditRow, auditStore } from './audit.store.ts'
import { chainStore } from './chain/chain.store.ts'

/** Makes what writes entries to the durable trail; a repeat of the same entries changes nothing. */
export function createTrailWriter({ db, nodeId }: { db: Database; nodeId: string }) {
  return async (events: readonly RecordedEvent[]): Promise<void> => {
    const rows = events.map((event) => rowOf(event, nodeId))
    await db.transaction((tx) => auditStore.insert(tx, rows), { isolation: 'read committed' })
  }
}

export type AuditDeps = {
  db: Database
  clock: Clock
  recorder: AuditRecorder
  retentionDays: number
  /** The queue before the durable trail; absent in memory, where the ring is all there is. */
  queue?: { flush(timeoutMs: number): Promise<unknown>; dropped(): number }
}

type AuditQuery = z.output<(typeof auditApi)['list']['query']>

export type Audit = ReturnType<typeof createAudit>

export function createAudit({ db, clock, recorder, retentionDays, queue }: AuditDeps) {
  function fromRing(query: AuditQuery) {
    // Cursors and matches belong to the durable trail; without one they find nothing.
    const outOfReach = query.after !== undefined || query.match_id !== undefined
    const matches = ({ actor, action }: RecordedEvent) =>
      (query.actor === undefined || actor === query.actor) &&
      (query.action === undefined || action.startsWith(query.action))
    const events = outOfReach ? [] : recorder.newest(query.limit, matches)
    return { entries: events.map(entryOf), durable: false, dropped_total: 0 }
  }

  async function fromTrail(query: AuditQuery) {
    // While the database is down nothing is written, and the read below is refused at once.
    if (db.state() !== 'down') await ownRowsWritten(queue)
    const after = query.after?.toLowerCase()
    const rows = await auditStore.list(db, { ...query, after, limit: query.limit + 1 })
    const page = rows.slice(0, query.limit)
    const last = page.at(-1)
    const more = rows.length > query.limit && last !== undefined
    return {
      entries: page.map((row) => entryOf(eventOf(row))),
      ...(more ? { next_after: last.id } : {}),
      durable: true,
      dropped_total: queue?.dropped() ?? 0,
    }
  }

  return {
    list: async (query: AuditQuery) => ({
      ...(db.durable ? await fromTrail(query) : fromRing(query)),
      retained: recorder.retained(),
      capacity: recorder.capacity,
    }),
    /**
     * Removes up to `batchItems` entries past their retention, from the beginning of the chain, and
     * notes where it begins now; answers how many. What is not sealed yet stays.
     */
    prune: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact(async (tx) => {
        const nowUnixMs = clock.nowUnixMs()
        const beforeUnixMs = nowUnixMs - retentionDays * 86_400_000
        // A time in the future is no entry's: it is as old at least as what was sealed after it.
        const page = { now_unix_ms: nowUnixMs, limit: batchItems }
        const dated = await chainStore.oldestDated(tx, page)
        const kept = dated.findIndex(({ time_unix_ms }) => time_unix_ms >= beforeUnixMs)
        const end = kept === -1 ? dated.at(-1) : dated[kept - 1]
        if (end === undefined) return 0
        const oldest = await chainStore.oldestSealed(tx, batchItems)
        const last = oldest.findLast(({ seq }) => seq <= end.seq)
        if (last === undefined) return 0
        await chainStore.moveEnd(tx, 'anchor', last)
        return chainStore.removeUpTo(tx, last.seq)
      }),
  }
}

function entryOf({ id: _, ...event }: RecordedEvent): AuditEntry {
  const { scopes, ...rest } = event
  return scopes === undefined ? rest : { ...rest, scopes: [...scopes] }
}

/** The row that holds an event; `eventOf` is its inverse. */
export function rowOf(event: RecordedEvent, node_id: string): AuditRow {
  return {
    id: event.id,
    node_id,
    time_unix_ms: event.time_unix_ms,
    actor_type: event.actor_type,
    actor: event.actor,
    role: event.role,
    credential_id: event.credential_id ?? null,
    key_name: event.key_name ?? null,
    key_scopes: event.scopes?.join(',') ?? null,
    action: event.action,
    target: event.target,
    details: event.details,
    match_id: event.match_id ?? null,
  }
}

/** The columns hold what `rowOf` wrote, so they have the types of an event again. */
function eventOf({ node_id: _, key_scopes, ...row }: AuditRow): RecordedEvent {
  const present = Object.entries(row).filter(([, value]) => value !== null)
  const scopes = key_scopes === null ? {} : { scopes: key_scopes.split(',') }
  return { ...Object.fromEntries(present), ...scopes } as unknown as RecordedEvent
}
