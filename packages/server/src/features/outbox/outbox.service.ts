import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { outboxStore } from './outbox.store.ts'

export type OutboxDeps = { db: Database; clock: Clock; log: Log }

/** Something that has happened and is still to be delivered: its kind says to whom. */
export type OutboxEvent = { kind: string; payload: string }

export type Outbox = ReturnType<typeof createOutbox>

/** Delivered rows are kept this long, undelivered ones tried this long, in milliseconds. */
const keptMs = 7 * 86_400_000

/**
 * Where features leave what has to happen after their commit: a row of the same transaction, so
 * that neither exists without the other. The courier takes it from there.
 */
export function createOutbox({ db, clock, log }: OutboxDeps) {
  let dropped = 0
  const bounds = (batch_items: number) => {
    return { before_unix_ms: clock.nowUnixMs() - keptMs, batch_items }
  }
  const pruneDelivered: PruneBatch<Transaction> = (items, transact = db.transaction) =>
    transact((tx) => outboxStore.removeDelivered(tx, bounds(items)), {
      isolation: 'read committed',
    })

  const dropUndelivered: PruneBatch<Transaction> = async (items, transact = db.transaction) => {
    const rows = await transact((tx) => outboxStore.removeUndelivered(tx, bounds(items)), {
      isolation: 'read committed',
    })
    dropped += rows.length
    for (const [kind, total] of countByKind(rows)) {
      log.warn('dropped events that nobody took for a week', { kind, total })
    }
    return rows.length
  }

  return {
    async add(tx: Transaction, events: readonly OutboxEvent[]): Promise<void> {
      const created_at_unix_ms = clock.nowUnixMs()
      await outboxStore.add(
        tx,
        events.map((event) => ({ ...event, created_at_unix_ms })),
      )
    },
    pruners: { outbox_delivered: pruneDelivered, outbox_undelivered: dropUndelivered },
    /** Rows that were dropped by this node since it started. */
    dropped: () => dropped,
  }
}

function countByKind(rows: readonly { kind: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { kind } of rows) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}
