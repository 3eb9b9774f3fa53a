import type { StatementSync } from 'node:sqlite'
import type { Clock, Timer } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import type { SqliteConnection } from '../connection.ts'
import { Thread } from '../thread.ts'

type CheckpointsDeps = {
  path: string
  connection: Pick<SqliteConnection, 'command' | 'inTransaction'>
  clock: Clock
  log: Log
}

/** What moves the pages; answers what went wrong, if anything did. */
type Worker = { ask(question: 'checkpoint'): Promise<string | null>; close(): Promise<void> }

type Options = { framesMax?: number; worker?: Worker }

/**
 * Pages in the log that are not yet in the database file before a checkpoint begins: 32 MiB. Those
 * that were written again meanwhile are copied once.
 */
const dueFrames = 8192
/** The same for a log that is nearly so long that writers wait: they shall not wait for so much. */
const dueFramesNearHold = 512
const nearHold = 15 / 16
/** Pages in the log before writers wait for a checkpoint to catch up: 256 MiB. */
const holdFrames = 65_536
/** How much longer it gets at most, until a checkpoint ends and has left little to do. */
const latestHold = 1.5
/** So much counts as little when the log is as long as that. */
const littleAtLatest = 2048
/** A page, and its head in the log. */
const frameBytes = 4096 + 24
const intervalMs = 1000
const holdRounds = 3

/** As long as the log gets, unless somebody reads an old state. */
export function logBytesMax(framesMax = holdFrames): number {
  return Math.floor(framesMax * latestHold * frameBytes)
}

/**
 * Keeps the write-ahead log short without ever doing disk work on this thread. SQLite can only
 * start the log anew when a checkpoint has caught up with the last commit, so under an unbroken
 * load the writers are held back for the one checkpoint in `holdFrames` pages that has to get
 * there.
 */
export class Checkpoints {
  readonly #deps: CheckpointsDeps
  readonly #holdFrames: number
  readonly #length: StatementSync
  readonly #timer: Timer
  readonly #worker: Worker
  #running = false
  #isClosed = false
  #hold: (PromiseWithResolvers<void> & { rounds: number }) | undefined
  #holdAt: number
  #known = { frames: 0, done: 0 }
  /** What was done when the checkpoint under way began. */
  #doneBefore = 0

  constructor(deps: CheckpointsDeps, { framesMax = holdFrames, worker }: Options = {}) {
    this.#deps = deps
    this.#holdFrames = framesMax
    this.#holdAt = framesMax
    // NOOP only reads the two counters that the log's index keeps in shared memory.
    this.#length = deps.connection.command('PRAGMA wal_checkpoint(NOOP)')
    this.#worker =
      worker ?? new Thread(new URL('./checkpoint.worker.ts', import.meta.url), deps.path)
    this.#timer = deps.clock.every(intervalMs, () => this.#startIf(1))
  }

  /** Set while writers must wait. */
  get held(): Promise<void> | undefined {
    return this.#hold?.promise
  }

  /** To be called after every commit. */
  committed(): void {
    const isNearHold = this.#known.frames > this.#holdAt * nearHold
    const frames = this.#startIf(isNearHold ? dueFramesNearHold : dueFrames)
    if (frames < this.#holdFrames) this.#holdAt = this.#holdFrames
    if (frames < this.#holdAt || this.#hold) return
    // Held now, writers would wait for the rest of the one under way, and then for the next.
    if (this.#running && frames < this.#holdAt * latestHold) return
    this.#beginHold()
  }

  #beginHold(): void {
    this.#hold = { ...Promise.withResolvers<void>(), rounds: 0 }
    this.#start()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.cancel()
    this.#release()
    await this.#worker.close()
  }

  #startIf(pendingFrames: number): number {
    const { frames, done } = this.#lengths()
    if (frames - done >= pendingFrames) this.#start()
    return frames
  }

  /** SQLite refuses the question while this connection has a transaction open. */
  #lengths(): { frames: number; done: number } {
    if (this.#deps.connection.inTransaction) return this.#known
    const { log, checkpointed } = this.#length.get() ?? {}
    this.#known = { frames: Number(log), done: Number(checkpointed) }
    return this.#known
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    this.#doneBefore = this.#known.done
    const finished = (error: unknown) => this.#finished(error)
    this.#worker.ask('checkpoint').then(finished, finished)
  }

  #finished(error: unknown): void {
    this.#running = false
    if (error) this.#deps.log.warn('a checkpoint of the database file failed', { error })
    if (this.#isClosed) return
    const { frames, done } = this.#lengths()
    if (!this.#hold) {
      if (frames < this.#holdAt || error) return
      if (frames - done <= this.#littleOf(frames)) this.#beginHold()
      // Where somebody reads an old state it moves nothing, however often it is asked.
      else if (done !== this.#doneBefore) this.#start()
      return
    }
    this.#hold.rounds += 1
    // A round that began before the last commit cannot have caught up with it; a later one can.
    if (frames > done && !error && this.#hold.rounds < holdRounds) {
      this.#start()
      return
    }
    // Somebody reads an old state (a long read, a backup, a doctor): the log has to grow meanwhile.
    if (frames > done) this.#holdAt = frames + this.#holdFrames
    this.#release()
  }

  /** What writers wait for in a log of so many frames: the longer it is, the more. */
  #littleOf(frames: number): number {
    const beyond = (frames / this.#holdAt - 1) / (latestHold - 1)
    return dueFramesNearHold + beyond * (littleAtLatest - dueFramesNearHold)
  }

  #release(): void {
    this.#hold?.resolve()
    this.#hold = undefined
  }
}
