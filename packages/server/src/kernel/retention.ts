import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** Deletes up to `batchItems` rows that are past their time; answers how many it deleted. */
export type PruneBatch = (batchItems: number) => Promise<number>

export type RetentionDeps = {
  /** By the name of the data, e.g. `expired_sessions`. */
  pruners: Readonly<Record<string, PruneBatch>>
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
 * comes back short. A failure in one kind does not stop the others; the pass fails at its end.
 */
export function createRetention({ pruners, batchItems, clock, log }: RetentionDeps) {
  async function prune(batch: PruneBatch): Promise<number> {
    let size = batchItems
    let total = 0
    for (;;) {
      const startedMs = clock.monotonicMs()
      const deleted = await batch(size)
      total += deleted
      if (deleted < size) return total
      if (clock.monotonicMs() - startedMs > batchMaxMs) size = Math.max(1, Math.floor(size / 2))
      await clock.sleep(pauseMs)
    }
  }

  return async (): Promise<void> => {
    const failures: unknown[] = []
    for (const [data, batch] of Object.entries(pruners)) {
      try {
        const total = await prune(batch)
        if (total > 0) log.debug('removed what was past its time', { data, total })
      } catch (error) {
        log.warn('data past its time could not be removed', { data, error })
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'retention did not complete')
  }
}
