import { atEndOfTurn, type Clock, type Timer } from '../clock.ts'
import type { Log } from '../log/log.ts'
import { backoff } from '../tasks/backoff.ts'
import { KeyedRows, type KeyedRowsOptions } from './keyed-rows.ts'
import { Ring } from './ring.ts'

/**
 * Rows that may be written after the answer that they belong to. Adding never waits: a full queue
 * gives up the oldest row that is not being written, and counts it.
 */
export type WriteBehind<Row> = {
  readonly name: string
  readonly capacity: number
  add(row: Row): void
  counts(): WriteBehindCounts
  /** How long ago a full queue last dropped a row; infinite when it never did. */
  droppedAgoMs(): number
  /** How long the present batch has been failing; 0 while all is well. */
  failingForMs(): number
  /** Writes what waits now, without the usual delay. False when `timeoutMs` was not enough. */
  flush(timeoutMs: number): Promise<boolean>
  /**
   * Writes what it can within `timeoutMs`, then abandons the rest and returns its number. Rows that
   * come later are abandoned too.
   */
  drain(timeoutMs: number): Promise<number>
}

/** At every moment `added` is the sum of `written`, `queued`, `dropped` and `abandoned`. */
export type WriteBehindCounts = {
  added: number
  /** Waiting, or being written. */
  queued: number
  written: number
  /** Given up because the queue was full. */
  dropped: number
  /** Given up at shutdown. */
  abandoned: number
  /** Attempts to write a batch that failed. */
  failures: number
}

type WriteBehindOptions<Row> = {
  name: string
  capacity: number
  batchItems: number
  flushIntervalMs: number
  /**
   * Stores a batch in one transaction. A batch that failed is given again, unchanged, so rows have
   * unique ids and a repeat stores nothing twice.
   */
  write: (rows: readonly Row[]) => Promise<void>
  /** Names what a row is the state of: then only the newest state of each waits. */
  keyed?: KeyedRowsOptions<Row>
  clock: Clock
  log: Log
}

const retryFirstMs = 250
const retryMaxMs = 5000
const warnEveryMs = 5000

export function createWriteBehind<Row>(options: WriteBehindOptions<Row>): WriteBehind<Row> {
  return new Queue(options)
}

class Queue<Row> implements WriteBehind<Row> {
  readonly name: string
  readonly capacity: number
  readonly #options: WriteBehindOptions<Row>
  readonly #waiting: Ring<Row> | KeyedRows<Row>
  readonly #retry = backoff(retryFirstMs, retryMaxMs)
  /** Taken from the queue to be written; nothing but its commit, or the shutdown, removes it. */
  #batch: readonly Row[] = []
  #state: 'idle' | 'delayed' | 'writing' | 'retrying' | 'ended' = 'idle'
  #timer: Timer | undefined
  #counts = { added: 0, written: 0, dropped: 0, abandoned: 0, failures: 0 }
  #failingSinceMs: number | undefined
  #warnedMs = Number.NEGATIVE_INFINITY
  #droppedMs = Number.NEGATIVE_INFINITY
  #flushes: { untilLeft: number; done: (inTime: boolean) => void }[] = []

  constructor(options: WriteBehindOptions<Row>) {
    this.name = options.name
    this.capacity = options.capacity
    this.#options = options
    const { capacity, keyed } = options
    this.#waiting = keyed === undefined ? new Ring(capacity) : new KeyedRows(keyed)
  }

  add(row: Row): void {
    if (this.#state === 'ended') {
      this.#counts.added += 1
      this.#counts.abandoned += 1
      return
    }
    if (this.#waiting instanceof KeyedRows) this.#addState(row, this.#waiting)
    else this.#addRow(row, this.#waiting)
    this.#schedule()
  }

  /** What is being written cannot go, so when nothing else waits it is the new row that goes. */
  #addRow(row: Row, waiting: Ring<Row>): void {
    this.#counts.added += 1
    const isFull = this.#queued() >= this.capacity
    if (!isFull || waiting.shift() !== undefined) waiting.push(row)
    if (isFull) this.#dropped()
  }

  /** A newer state of a row that waits is no row of its own. */
  #addState(row: Row, waiting: KeyedRows<Row>): void {
    if (waiting.put(row)) this.#counts.added += 1
    const isHeld = this.#options.keyed?.isHeld ?? (() => false)
    const written = this.#batch.filter((one) => !isHeld(one)).length
    if (waiting.spare === 0 || written + waiting.spare <= this.capacity) return
    waiting.giveUp()
    this.#dropped()
  }

  counts(): WriteBehindCounts {
    return { ...this.#counts, queued: this.#queued() }
  }

  droppedAgoMs(): number {
    return this.#options.clock.monotonicMs() - this.#droppedMs
  }

  failingForMs(): number {
    const since = this.#failingSinceMs
    return since === undefined ? 0 : this.#options.clock.monotonicMs() - since
  }

  flush(timeoutMs: number): Promise<boolean> {
    if (this.#queued() === 0) return Promise.resolve(true)
    const untilLeft = this.#left() + this.#queued()
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(timeoutMs, () => resolve(false))
      const done = (inTime: boolean) => {
        timer.cancel()
        resolve(inTime)
      }
      this.#flushes.push({ untilLeft, done })
      if (this.#state !== 'writing') this.#writeNow()
    })
  }

  async drain(timeoutMs: number): Promise<number> {
    await this.flush(timeoutMs)
    const abandoned = this.#queued()
    this.#state = 'ended'
    this.#timer?.cancel()
    this.#waiting.take(this.#waiting.size)
    this.#batch = []
    this.#counts.abandoned += abandoned
    if (abandoned > 0)
      this.#options.log.warn('rows were abandoned', { queue: this.name, abandoned })
    for (const { done } of this.#flushes.splice(0)) done(abandoned === 0)
    return abandoned
  }

  #queued(): number {
    return this.#batch.length + this.#waiting.size
  }

  #dropped(): void {
    this.#counts.dropped += 1
    const nowMs = this.#options.clock.monotonicMs()
    this.#droppedMs = nowMs
    if (nowMs - this.#warnedMs < warnEveryMs) return
    this.#warnedMs = nowMs
    const { dropped } = this.#counts
    this.#options.log.warn('a full queue drops its oldest rows', { queue: this.name, dropped })
  }

  /** Starts the wait for more rows, or ends it when a batch is complete. */
  #schedule(): void {
    const { clock, batchItems, flushIntervalMs } = this.#options
    const isComplete = this.#waiting.size >= batchItems
    if (this.#state === 'idle' && this.#waiting.size > 0) {
      this.#state = 'delayed'
      if (!isComplete) this.#timer = clock.after(flushIntervalMs, () => this.#writeNow())
      else atEndOfTurn(() => this.#writeIfDelayed())
    } else if (this.#state === 'delayed' && this.#waiting.size === batchItems) {
      atEndOfTurn(() => this.#writeIfDelayed())
    }
  }

  #writeIfDelayed(): void {
    if (this.#state === 'delayed') this.#writeNow()
  }

  #writeNow(): void {
    this.#timer?.cancel()
    if (this.#batch.length === 0) this.#batch = this.#waiting.take(this.#options.batchItems)
    this.#state = 'writing'
    void this.#write(this.#batch)
  }

  async #write(rows: readonly Row[]): Promise<void> {
    try {
      await this.#options.write(rows)
    } catch (error) {
      this.#fail(error)
      return
    }
    // The shutdown has already counted these rows as abandoned.
    if (this.#state === 'ended') return
    this.#counts.written += rows.length
    this.#batch = []
    this.#retry.reset()
    this.#failingSinceMs = undefined
    this.#state = 'idle'
    this.#endFlushes()
    if (this.#flushes.length > 0 && this.#waiting.size > 0) this.#writeNow()
    else this.#schedule()
  }

  #fail(error: unknown): void {
    this.#counts.failures += 1
    if (this.#state === 'ended') return
    const { clock, log } = this.#options
    this.#failingSinceMs ??= clock.monotonicMs()
    this.#state = 'retrying'
    const delayMs = this.#retry.next()
    const fields = { queue: this.name, rows: this.#batch.length, retry_ms: delayMs, error }
    log.warn('a batch could not be written', fields)
    this.#timer = clock.after(delayMs, () => this.#writeNow())
  }

  #endFlushes(): void {
    const left = this.#left()
    const ended = this.#flushes.filter(({ untilLeft }) => untilLeft <= left)
    this.#flushes = this.#flushes.filter(({ untilLeft }) => untilLeft > left)
    for (const { done } of ended) done(true)
  }

  /** Rows leave in the order in which they came, so this says which of them have left. */
  #left(): number {
    return this.#counts.written + this.#counts.dropped
  }
}
