import type { Clock } from '../clock.ts'
import type { Log } from '../log/log.ts'
import { type Lease, LeaseLost, type Transact } from './lease.ts'
import type { TaskRun } from './supervisor-task.ts'

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
  /** Keeps count of what was done. */
  counts: PruneCounts
  /** Whether what seems to be past its time must be left, because the clock may be wrong. */
  onHold?: () => boolean
}

/** What became of one kind of data on this node, as `/status` shows it. */
export type PruneCount = {
  data: string
  /** Rows removed since the start. */
  pruned_total: number
  /** Whether rows are known to be left that should be gone. */
  behind: boolean
}

export type PruneCounts = {
  /** A batch ended, or failed. */
  note(data: string, outcome: { pruned: number; behind: boolean }): void
  list(): PruneCount[]
}

/** Makes the counts of these kinds of data. */
export function createPruneCounts(kinds: readonly string[]): PruneCounts {
  const counts = new Map(kinds.map((data) => [data, { data, pruned_total: 0, behind: false }]))
  return {
    note(data, { pruned, behind }) {
      const { pruned_total = 0 } = counts.get(data) ?? {}
      counts.set(data, { data, pruned_total: pruned_total + pruned, behind })
    },
    list: () => [...counts.values()],
  }
}

/** Lets other writers in between two batches, in milliseconds. */
const pauseMs = 10
/** A batch that took longer is halved for the rest of the pass, in milliseconds. */
const batchMaxMs = 50

/**
 * Makes the task that keeps the store within its bounds: every kind of data in batches until one
 * comes back short. A failure in one kind does not stop the others; the pass fails at its end. A
 * node that does not hold the lease, or loses it, leaves the rest to the one that does. A pass goes
 * on for as long as there is too much; one that is asked to end does so behind its present batch.
 */
export function createRetention<Tx>(deps: RetentionDeps<Tx>) {
  const { pruners, lease, batchItems, clock, log, counts, onHold = () => false } = deps

  async function prune(data: string, batch: PruneBatch<Tx>, run: TaskRun): Promise<number> {
    let size = batchItems
    let total = 0
    for (;;) {
      const startedMs = clock.monotonicMs()
      const deleted = await batch(size, lease.transaction)
      total += deleted
      const behind = deleted >= size
      counts.note(data, { pruned: deleted, behind })
      run.progress()
      if (!behind || onHold() || run.signal.aborted) return total
      if (clock.monotonicMs() - startedMs > batchMaxMs) size = Math.max(1, Math.floor(size / 2))
      await clock.sleep(pauseMs)
    }
  }

  return async (run: TaskRun): Promise<void> => {
    const failures: unknown[] = []
    if (onHold() || !(await lease.keep())) return
    for (const [data, batch] of Object.entries(pruners)) {
      if (run.signal.aborted) break
      try {
        const total = await prune(data, batch, run)
        if (total > 0) log.debug('removed what was past its time', { data, total })
      } catch (error) {
        if (error instanceof LeaseLost) break
        counts.note(data, { pruned: 0, behind: true })
        log.warn('data past its time could not be removed', { data, error })
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'retention did not complete')
  }
}
