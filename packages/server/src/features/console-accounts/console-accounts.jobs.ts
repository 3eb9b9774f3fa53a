import type { Database } from '../../database/database.ts'
import type { TaskBody } from '../../kernel/tasks/supervisor-task.ts'
import { consoleAccountsStore } from './console-accounts.store.ts'

/** Fewer accounts than these are counted at every question, which costs next to nothing. */
const countFrom = 1000
/** Accounts of one transaction: their rows are locked meanwhile. */
const batchItems = 500

/**
 * Makes the task that keeps the number of accounts at hand. A sign-up must not wait for a row that
 * all sign-ups write, so each account says for itself whether it was counted already, and the total
 * takes in those that gathered. The sum of both is exact at every moment.
 */
export function createAccountCount(db: Database): TaskBody {
  return async ({ signal, progress }) => {
    if ((await consoleAccountsStore.uncounted(db, countFrom)) < countFrom) return
    while (!signal.aborted) {
      const counted = await db.transaction((tx) => consoleAccountsStore.countSome(tx, batchItems), {
        isolation: 'read committed',
      })
      if (counted < batchItems) return
      progress()
    }
  }
}
