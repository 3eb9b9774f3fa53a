import { parseCron } from '@guildhall/contract'
import type { Database, Transaction } from '../../../database/database.ts'
import { databaseNow } from '../../../database/reads/stored-time.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { type Closing, closePeriod } from '../leaderboards.periods.ts'
import { resetsStore, type ScheduledBoard } from './resets.store.ts'

export type ResetsDeps = {
  db: Database
  log: Log
  /** `leaderboards.execute_reset_schedules`. */
  execute: boolean
  /** Whether nothing may be reset, because the clock may be wrong. */
  onHold(): boolean
  /** Does, within the transaction of a reset, what else belongs to it. */
  periodClosed(tx: Transaction, epoch: Epoch): Promise<void>
}

/** One reset: the period that it closed, and what it was due for. */
export type Epoch = {
  leaderboard_id: string
  /** Number of the closed period, and the order of its records. */
  period: number
  sort: string
  /** The newest occurrence of the schedule that had passed. */
  due_at_unix_ms: number
  /** Occurrences since the reset before; more than one if nobody was there to execute them. */
  occurrences: number
}

export type Resets = ReturnType<typeof createResets>

/** A reset takes as long as the tournaments have entrants that it finalizes. */
export const resetTransaction = { isolation: 'read committed', long: true } as const

/** Boards of one page of a start. */
const pageItems = 100

/**
 * Resets boards by their schedules. A board whose schedule is executed has a cursor: when it is
 * due next. It is moved in the transaction of the reset, so there is one reset
 * per cursor however many nodes or submissions find the board due.
 */
export function createResets(deps: ResetsDeps) {
  const { db, log, execute, onHold, periodClosed } = deps

  /** Whether boards may lack a cursor because it was asked for while the clock was on hold. */
  let cursorsMissing = false

  /**
   * The cursor after `unixMs` of the database's clock; null when nothing will be executed, or when
   * the clock may be wrong: a cursor of that time would be wrong for as long as it stands.
   */
  function cursorAfter(schedule: string | null, unixMs: number): number | null {
    if (!execute || schedule === null) return null
    if (onHold()) {
      cursorsMissing = true
      return null
    }
    return parseCron(schedule)?.next(unixMs) ?? null
  }

  /**
   * Executes what is due of a board, all of it at once: who was away for months resets once.
   * Undefined when there was nothing to execute. For a transaction that may be `read committed`.
   */
  async function reset(tx: Transaction, id: string): Promise<Epoch | undefined> {
    if (!execute || onHold()) return undefined
    const board = await resetsStore.dueBoard(tx, id)
    if (board === undefined) return undefined
    const nowUnixMs = await databaseNow(tx)
    const { next_due_at_unix_ms: cursor, reset_schedule } = board
    const next = cursorAfter(reset_schedule, nowUnixMs)
    const passed = parseCron(reset_schedule ?? '')?.between(cursor - 1, nowUnixMs)
    // A cursor that is no time of its schedule is not executed, and no time is executed twice: it
    // may come again when the clock was wrong and the cursors were set anew.
    if (passed === undefined || (await resetsStore.hasEpoch(tx, id, passed.newest))) {
      await resetsStore.moveCursor(tx, { id, from: cursor, to: next })
      return undefined
    }
    return close(tx, board, { due_at: passed.newest, occurrences: passed.count, next_due_at: next })
  }

  async function close(
    tx: Transaction,
    { id, period, sort }: ScheduledBoard,
    due: Omit<Closing, 'board'>,
  ): Promise<Epoch | undefined> {
    if (!(await closePeriod(tx, { board: id, ...due }))) return undefined
    const { due_at: due_at_unix_ms, occurrences } = due
    const epoch = { leaderboard_id: id, period, sort, due_at_unix_ms, occurrences }
    await periodClosed(tx, epoch)
    return epoch
  }

  async function setCursors(): Promise<void> {
    for (let afterId = ''; ; ) {
      const page = await resetsStore.unscheduledPage(db, afterId, pageItems)
      const nowUnixMs = await databaseNow(db)
      const cursors = page.flatMap((board) => {
        const next_due_at_unix_ms = cursorAfter(board.reset_schedule, nowUnixMs)
        return next_due_at_unix_ms === null ? [] : [{ ...board, next_due_at_unix_ms }]
      })
      await resetsStore.setCursors(db, cursors)
      const last = page.at(-1)
      if (last === undefined || page.length < pageItems) return
      afterId = last.id
    }
  }

  return {
    execute,
    onHold,
    cursorAfter,
    reset,
    /**
     * The same in a transaction of its own, for a submission that finds its board due. Undefined
     * when nothing may be executed now; otherwise nothing is due any more.
     */
    async resetDue(id: string): Promise<{ epoch: Epoch | undefined } | undefined> {
      if (!execute || onHold()) return undefined
      const epoch = await db.transaction((tx) => reset(tx, id), resetTransaction)
      if (epoch !== undefined) logReset(log, epoch)
      return { epoch }
    },
    /**
     * Brings the cursors in line with the switch, at the start of a node: boards without one get
     * their first; with the switch off there is none.
     */
    async prepare(): Promise<void> {
      if (execute) await setCursors()
      else await resetsStore.clearCursors(db)
    },
    /** Once the hold is over: sets the cursors that this node left unset because of it. */
    async setMissingCursors(): Promise<void> {
      if (!cursorsMissing || onHold()) return
      cursorsMissing = false
      try {
        await setCursors()
      } catch (error) {
        cursorsMissing = true
        throw error
      }
    },
  }
}

/** Publishes a reset once it is committed. */
export function logReset(log: Log, epoch: Epoch): void {
  log.info('reset a board', epoch)
}
