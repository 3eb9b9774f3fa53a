import type { Database, Transaction } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { type Backoff, backoff } from '../../../kernel/tasks/backoff.ts'
import { type Lease, LeaseLost } from '../../../kernel/tasks/lease.ts'
import { minimum } from '../../../kernel/tasks/minimum.ts'
import type { TaskRun } from '../../../kernel/tasks/supervisor-task.ts'
import { type DuePage, settlementStore } from './settlement.store.ts'
import type { SettlementRules } from './settlement.ts'

export type SettlementDeps = {
  db: Database
  clock: Clock
  log: Log
  /** One node settles at a time; what it commits is fenced. */
  lease: Lease<Transaction>
  rules: SettlementRules
  /** Whether no tournament may be ended, because the clock may be wrong. */
  onHold(): boolean
  /** Tournaments of one page. */
  pageItems?: number
}

export type Settlement = {
  /** Moves on every tournament that is due, if this node holds the lease. */
  settle(run: Pick<TaskRun, 'signal' | 'progress'>): Promise<void>
  /** Since when a tournament has been failing, and how often any has failed. */
  failingForMs(): number
  failures(): number
}

/** Tournaments are looked at at least every second, of which this is the pause, in milliseconds. */
export const settlementIntervalMs = 500
const retryFirstMs = 1000
const retryMaxMs = 300_000
const pageItemsDefault = 100

/** A tournament that could not be moved on. */
type Failing = { delays: Backoff; sinceMs: number; retryAtMs: number; seenInPass: number }

type Step = {
  /** Looked at before the page and before each tournament of it; absent when nothing keeps it. */
  waits?: () => boolean
  page(from: DuePage): Promise<{ id: string; due_unix_ms: number }[]>
  move(tx: Transaction, id: string): Promise<unknown>
}

/**
 * Makes the task that ends tournaments. Every tournament has a transaction of its own for each
 * step; one that fails is tried again after 1 s, doubling to 5 min, while the others go on.
 */
export function createSettlement(deps: SettlementDeps): Settlement {
  const { db, clock, log, lease, rules, onHold, pageItems = pageItemsDefault } = deps
  const failing = new Map<string, Failing>()
  let failures = 0
  let passes = 0

  const steps: readonly Step[] = [
    {
      // An end is for good, also when the time at which it was found was wrong.
      waits: onHold,
      page: (from) => settlementStore.ended(db, from),
      async move(tx, id) {
        if (await rules.finalizeAtEnd(tx, id)) return { state: 'finalizing' }
        return undefined
      },
    },
    {
      page: (from) => settlementStore.finalizing(db, from),
      async move(tx, id) {
        const results = await rules.complete(tx, id)
        return results === undefined ? undefined : { state: 'completed', results }
      },
    },
  ]

  function noteFailure(id: string, error: unknown): void {
    const nowMs = clock.monotonicMs()
    const known = failing.get(id)
    const delays = known?.delays ?? backoff(retryFirstMs, retryMaxMs)
    const sinceMs = known?.sinceMs ?? nowMs
    failing.set(id, { delays, sinceMs, retryAtMs: nowMs + delays.next(), seenInPass: passes })
    failures += 1
    log.error('a tournament could not be settled', { tournament_id: id, error })
  }

  async function move(id: string, step: Step): Promise<void> {
    const known = failing.get(id)
    if (known !== undefined && clock.monotonicMs() < known.retryAtMs) {
      known.seenInPass = passes
      return
    }
    try {
      const moved = await lease.transaction((tx) => step.move(tx, id), {
        isolation: 'read committed',
      })
      failing.delete(id)
      if (moved !== undefined) log.info('moved a tournament on', { tournament_id: id, ...moved })
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      noteFailure(id, error)
      // Then the others would fail as well, through no fault of theirs.
      if (db.state() !== 'up') throw error
    }
  }

  /** What is gone from the lists was cancelled, or moved on by a reset or another node. */
  function forgetSettled(): void {
    for (const [id, { seenInPass }] of failing) if (seenInPass < passes) failing.delete(id)
  }

  async function walk(step: Step, { signal, progress }: Pick<TaskRun, 'signal' | 'progress'>) {
    let from: DuePage = { after_unix_ms: -1, after_id: '', limit: pageItems }
    for (;;) {
      if (step.waits?.()) return
      const due = await step.page(from)
      if (due.length > 0 && !(await lease.keep())) throw new LeaseLost('another node settles')
      for (const { id } of due) {
        signal.throwIfAborted()
        if (step.waits?.()) return
        await move(id, step)
        progress()
      }
      const last = due.at(-1)
      if (last === undefined || due.length < pageItems) return
      from = { after_unix_ms: last.due_unix_ms, after_id: last.id, limit: pageItems }
    }
  }

  return {
    async settle(run) {
      passes += 1
      try {
        for (const step of steps) await walk(step, run)
        // Those that wait were not looked for.
        if (!onHold()) forgetSettled()
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error
        // What fails elsewhere is reported elsewhere.
        failing.clear()
      }
    },
    failingForMs() {
      const since = minimum(failing.values(), ({ sinceMs }) => sinceMs)
      return since === undefined ? 0 : clock.monotonicMs() - since
    },
    failures: () => failures,
  }
}
