import { type CombinerOptions, createCombiner } from '../kernel/batching/combiner.ts'
import type { Database } from './database.ts'

/**
 * Makes one write of many: those that are asked for while one is under way share the next one,
 * which spares round trips and flushes. Where the writes of a turn share a commit by themselves,
 * each runs alone and at once.
 *
 * @example
 * const addSession = mergedWrites(db, { run: insertSessions, itemsMax: 256 })
 * await addSession({ id, account_id })
 */
export function mergedWrites<T, R>(
  db: Database,
  options: CombinerOptions<T, R>,
): (item: T) => Promise<R> {
  if (!db.groupsCommits) return createCombiner(options)
  return async (item) => {
    const [result] = await options.run([item])
    if (result?.ok) return result.value
    throw result?.error
  }
}
