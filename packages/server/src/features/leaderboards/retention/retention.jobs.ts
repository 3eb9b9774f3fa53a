import type { Database, Transaction } from '../../../database/database.ts'
import type { Transact } from '../../../kernel/tasks/lease.ts'
import type { PruneBatch } from '../../../kernel/tasks/retention.ts'
import { retentionStore } from './retention.store.ts'

type LeaderboardJobsDeps = {
  db: Database
  config: { closed_periods_kept: number }
}

/** What removes closed periods beyond those that are kept, and what deleted boards have left. */
export function createLeaderboardPruners({ db, config }: LeaderboardJobsDeps) {
  return {
    /**
     * Takes the oldest closed periods from their boards and removes up to `batchItems` rows of
     * those that have no board. No transaction changes such a period's records, because none can
     * lock a board that has it.
     */
    periods: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact(
        async (tx) => {
          const kept = config.closed_periods_kept
          await retentionStore.dropSurplus(tx, { kept, batch_items: batchItems })
          return removeDropped(tx, batchItems)
        },
        { isolation: 'read committed' },
      ),
  } satisfies Record<string, PruneBatch<Transaction>>
}

async function removeDropped(tx: Transaction, batchItems: number): Promise<number> {
  let removed = 0
  while (removed < batchItems) {
    const period = await retentionStore.oldestDropped(tx)
    if (period === undefined) break
    removed += await retentionStore.removeRecords(tx, { period, batch_items: batchItems - removed })
    if (removed >= batchItems) break
    removed += await retentionStore.removeBlocks(tx, { period, batch_items: batchItems - removed })
    if (removed >= batchItems) break
    removed += await retentionStore.removePeriod(tx, period)
  }
  return removed
}
