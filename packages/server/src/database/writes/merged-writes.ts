import { type CombinerOptions, createCombiner } from '../../kernel/batching/combiner.ts'
import { Semaphore } from '../../kernel/tasks/semaphore.ts'
import type { Database } from '../database.ts'

type MergeOptions<T, R> = Pick<CombinerOptions<T, R>, 'run' | 'itemsMax'>

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
  options: MergeOptions<T, R>,
): (item: T) => Promise<R> {
  if (db.backend === 'postgres') return createCombiner({ ...options, inTurn: turnsOf(db) })
  return async (item) => {
    const [result] = await options.run([item])
    if (result?.ok) return result.value
    throw result?.error
  }
}

/**
 * Makes one transaction of many: `run` does what was asked for together, in one transaction.
 *
 * @param options `runsOnFile`: so many may be under way on a file, so that one prepares its work
 * while the others wait for the disk; 1 if not given. Elsewhere a second would only wait for the
 * locks of the first.
 *
 * @example
 * const submit = mergedTransactions(db, { run: submitAll, itemsMax: 256 })
 * const record = await submit({ board_id, user_id, score })
 */
export function mergedTransactions<T, R>(
  db: Database,
  { runsOnFile = 1, ...options }: MergeOptions<T, R> & { runsOnFile?: number },
): (item: T) => Promise<R> {
  const runsMax = db.backend === 'sqlite' ? runsOnFile : 1
  return createCombiner({ ...options, runsMax, inTurn: turnsOf(db) })
}

/**
 * On PostgreSQL the merged writes of all kinds share a few turns: fewer and larger batches cost the
 * server and the node less, and each further connection has to plan and to cache for itself. A run
 * must not wait for a merged write of another kind.
 */
function turnsOf(db: Database): CombinerOptions<unknown, unknown>['inTurn'] {
  if (db.backend !== 'postgres') return undefined
  const own = turns.get(db) ?? new Semaphore(runsAtOnce)
  turns.set(db, own)
  return (run) => own.run(run)
}

const runsAtOnce = 3
const turns = new WeakMap<Database, Semaphore>()
