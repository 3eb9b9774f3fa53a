import type { Database, Transaction } from '../../database/database.ts'
import type { PruneBatch } from '../../kernel/tasks/retention.ts'
import { chatStore } from './chat.store.ts'

/**
 * Makes the pruner of what a larger `chat.history_limit` has left: an append evicts from its own
 * channel, but nobody may write in that one any more. The limit is the same until the process ends,
 * so every channel is looked at once, `channelsAtOnce` of them in a transaction.
 */
export function createHistoryPruner(
  db: Database,
  historyLimit: number,
  channelsAtOnce = 200,
): PruneBatch<Transaction> {
  let lookedAt: string | undefined = ''

  return async (batchItems, transact = db.transaction) => {
    let removed = 0
    while (lookedAt !== undefined && removed < batchItems) {
      const after = lookedAt
      const page = { after, channels: channelsAtOnce }
      const surplus = { ...page, history_limit: historyLimit, batch_items: batchItems - removed }
      const outcome = await transact(
        async (tx) => ({
          last: await chatStore.lastOfPage(tx, page),
          rows: await chatStore.evictSurplus(tx, surplus),
        }),
        { isolation: 'read committed' },
      )
      removed += outcome.rows
      if (removed < batchItems) lookedAt = outcome.last
    }
    return removed
  }
}
