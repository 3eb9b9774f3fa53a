import type { Database, Transaction } from '../../../database/database.ts'
import { databaseNow } from '../../../database/reads/stored-time.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { type Backoff, backoff } from '../../../kernel/tasks/backoff.ts'
import { type Lease, LeaseLost } from '../../../kernel/tasks/lease.ts'
import { minimum } from '../../../kernel/tasks/minimum.ts'
import type { TaskRun } from '../../../kernel/tasks/supervisor-task.ts'
import { type DuePage, resetsStore } from './resets.store.ts'
import { logReset, type Resets, resetTransaction } from './resets.ts'

export type ResetPassDeps = {
  db: Database
  clock: Clock
  log: Log
  resets: Pick<Resets, 'execute' | 'onHold' | 'reset' | 'setMissingCursors'>
  /** One node does this at a time, and what it commits is fenced; absent on one that may not. */
  lease: Lease<Transaction> | undefined
}

export type ResetPass = {
  /** Resets every board that is due, if this node holds the lease. */
  run(run: Pick<TaskRun, 'signal' | 'progress'>): Promise<void>
  /** In how long the next board is due, or tried again; undefined when nothing waits for a time. */
  dueInMs(): number | undefined
  status(): ResetStatus
}

/** As of the last pass of this node; `failing` counts what this node could not reset. */
export type ResetStatus = {
  leader: boolean
  boards: number
  failing: number
  nextDueUnixMs: number | null
}

const pageItems = 100
/** Boards that are reset at the same time; their commits share a flush to the disk. */
const atOnce = 4
const retryFirstMs = 1000
const retryMaxMs = 300_000

/** Counting takes as long as there are many boards, so it is not done in every pass. */
const countEveryMs = 10_000

/** `pass`: the last one that found it due. */
type FailingBoard = { delays: Backoff; retryAtMs: number; pass: number }

/**
 * Makes the pass over the boards that are due. Each has a transaction of its own; one that fails is
 * tried again after 1 s, doubling to 5 min, while the others go on.
 */
export function createResetPass(deps: ResetPassDeps): ResetPass {
  const { db, clock, log, resets, lease } = deps
  const failing = new Map<string, FailingBoard>()
  let passes = 0
  let boards = 0
  let countedAtMs = Number.NEGATIVE_INFINITY
  let nextDueUnixMs: number | null = null
  /** When the next board is due, by the monotonic clock. */
  let upcomingAtMs: number | undefined

  function noteFailure(id: string, error: unknown): void {
    const delays = failing.get(id)?.delays ?? backoff(retryFirstMs, retryMaxMs)
    const delayMs = delays.next()
    failing.set(id, { delays, retryAtMs: clock.monotonicMs() + delayMs, pass: passes })
    log.error('a board could not be reset', { board: id, retry_in_ms: delayMs, error })
  }

  async function resetOne(id: string, { transaction }: Lease<Transaction>): Promise<void> {
    const known = failing.get(id)
    if (known !== undefined && clock.monotonicMs() < known.retryAtMs) {
      known.pass = passes
      return
    }
    try {
      const epoch = await transaction((tx) => resets.reset(tx, id), resetTransaction)
      failing.delete(id)
      if (epoch !== undefined) logReset(log, epoch)
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      noteFailure(id, error)
      // Then the others would fail as well, through no fault of theirs.
      if (db.state() !== 'up') throw error
    }
  }

  /** Oldest first. */
  async function walk(lease: Lease<Transaction>, run: Parameters<ResetPass['run']>[0]) {
    const now_unix_ms = await databaseNow(db)
    const page = { now_unix_ms, limit: pageItems }
    let from: DuePage = { ...page, after_unix_ms: Number.MIN_SAFE_INTEGER, after_id: '' }
    for (;;) {
      const due = await resetsStore.duePage(db, from)
      for (let first = 0; first < due.length; first += atOnce) {
        // The catch-up of a start may take longer than the lease lives, and nothing else renews it.
        if (run.signal.aborted || resets.onHold() || !(await lease.keep())) return
        const some = due.slice(first, first + atOnce)
        await allEnded(some.map(({ id }) => resetOne(id, lease)))
        run.progress()
      }
      const last = due.at(-1)
      if (last === undefined || due.length < pageItems) break
      from = { ...page, after_unix_ms: last.next_due_at_unix_ms, after_id: last.id }
    }
    // A board that is not due any more was reset by a submission, or deleted.
    for (const [id, { pass }] of failing) if (pass < passes) failing.delete(id)
  }

  async function look(): Promise<void> {
    const atMs = clock.monotonicMs()
    const nowUnixMs = await databaseNow(db)
    const { first_unix_ms, upcoming_unix_ms } = await resetsStore.outlook(db, nowUnixMs)
    nextDueUnixMs = first_unix_ms
    upcomingAtMs = upcoming_unix_ms === null ? undefined : atMs + upcoming_unix_ms - nowUnixMs
    if (atMs - countedAtMs < countEveryMs) return
    boards = await resetsStore.count(db)
    countedAtMs = atMs
  }

  return {
    async run(run) {
      passes += 1
      await resets.setMissingCursors()
      if (lease === undefined || !(await lease.keep())) failing.clear()
      else if (resets.execute && !resets.onHold()) {
        await walk(lease, run).catch((error: unknown) => {
          if (!(error instanceof LeaseLost)) throw error
        })
      }
      if (resets.execute) await look()
    },
    dueInMs() {
      if (resets.onHold()) return undefined
      const retryAtMs = minimum(failing.values(), (board) => board.retryAtMs) ?? upcomingAtMs
      if (retryAtMs === undefined) return undefined
      return Math.max(0, Math.min(retryAtMs, upcomingAtMs ?? retryAtMs) - clock.monotonicMs())
    },
    status: () => ({
      leader: lease?.held() ?? false,
      boards,
      failing: failing.size,
      nextDueUnixMs,
    }),
  }
}

/** Waits for all of them, also when one fails, and then fails for the first that did. */
async function allEnded(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
