import type { Clock } from '../clock.ts'
import type { Log } from '../log/log.ts'
import type { KeyedRowsOptions } from './keyed-rows.ts'
import { createWriteBehind, type WriteBehind } from './write-behind.ts'

type RowQueueDeps = {
  db: { readonly durable: boolean }
  clock: Clock
  log: Log
  config: { logs: { flush_batch_items: number; flush_interval_ms: number } }
}

type RowQueueOptions<Row> = {
  /** Stands in metrics and in the health report. */
  name: string
  /** In rows. */
  capacity: number
  /** Stores a batch in one transaction; a repeat stores nothing twice. */
  write: (rows: readonly Row[]) => Promise<unknown>
  /** Names what a row is the state of: then only the newest state of each waits. */
  keyed?: KeyedRowsOptions<Row>
}

/**
 * The write-behind queue of a feature's rows, flushed as `logs` is configured. Undefined on a
 * backend that keeps no such rows.
 *
 * @example
 * const queue = rowQueue<LogRow>(deps, {
 *   name: 'script_logs',
 *   capacity: 10_000,
 *   write: (rows) => scriptLogsStore.insert(db, rows),
 * })
 */
export function rowQueue<Row>(
  { db, clock, log, config }: RowQueueDeps,
  { write, ...options }: RowQueueOptions<Row>,
): WriteBehind<Row> | undefined {
  if (!db.durable) return undefined
  return createWriteBehind<Row>({
    ...options,
    batchItems: config.logs.flush_batch_items,
    flushIntervalMs: config.logs.flush_interval_ms,
    write: async (rows) => void (await write(rows)),
    clock,
    log,
  })
}

/** Longest wait of a reader for this node's own rows. */
const readerWaitMs = 2000

/** Waits, though not for ever, until a reader finds what this node has added. */
export async function ownRowsWritten(
  queue: { flush(timeoutMs: number): Promise<unknown> } | undefined,
): Promise<void> {
  await queue?.flush(readerWaitMs)
}

/** How many rows a queue has given up: full, or at shutdown. */
export function lostRows(queue: Pick<WriteBehind<never>, 'counts'> | undefined): number {
  if (queue === undefined) return 0
  const { dropped, abandoned } = queue.counts()
  return dropped + abandoned
}
