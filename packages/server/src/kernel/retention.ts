import type { Clock } from './clock.ts'
import { type Lease, LeaseLost, type Transact } from './lease.ts'
import type { Log } from './log.ts'

/**
 * Deletes up to `batchItems` rows that are past their time; answers how many it deleted. Whatever
 * it deletes it deletes through `transact`, if that is given.
 */
export type PruneBatch<Tx> = (batchItems: number, transact?: Transact<Tx>) => Promise<number>

export type RetentionDeps<Tx> = {
  /** By the name of the data, e.g. `expired_sessions`. */
  pruners: Readonly<Record<string, PruneBatch<Tx>>>
  /** A pass runs on one node of a deployment. */
  lease: Pick<Lease<Tx>, 'keep' | 'transaction'>
  /** Rows of one transaction. */
  batchItems: number
  clock: Clock
  log: Log
}

/** Lets other writers in between two batches, in milliseconds. */
const pauseMs = 10
/** A batch that took longer is halved for the rest of the pass, in milliseconds. */
const batchMaxMs = 50

/**
 * Makes the task that keeps the store within its bounds: every kind of data in batches until one
 * comes back short. A failure in one kind does not stop the others; the pass fails at its end. A
 * node that does not hold the lease, or loses it, leaves the rest to the one that does.
 */
export function createRetention<Tx>(deps: RetentionDeps<Tx>) {
  const { pruners, lease, batchItems, clock, log } = deps

  async function prune(batch: PruneBatch<Tx>): Promise<number> {
    let size = batchItems
    let total = 0
    for (;;) {
      const startedMs = clock.monotonicMs()
      const deleted = await batch(size, lease.transaction)
      total += deleted
      if (deleted < size) return total
      if (clock.monotonicMs() - startedMs > batchMaxMs) size = Math.max(1, Math.floor(size / 2))
      await clock.sleep(pauseMs)
    }
  }

  return async (): Promise<void> => {
    const failures: unknown[] = []
    if (!(await lease.keep())) return
    for (const [data, batch] of Object.entries(pruners)) {
      try {
        const total = await prune(batch)
        if (total > 0) log.debug('removed what was past its time', { data, total })
      } catch (error) {
        if (error instanceof LeaseLost) break
        log.warn('data past its time could not be removed', { data, error })
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'retention did not complete')
  }
}
