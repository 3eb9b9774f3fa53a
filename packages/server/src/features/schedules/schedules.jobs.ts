import { parseCron } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { databaseNow } from '../../database/reads/stored-time.ts'
import type { Clock, Timer } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { ScriptSchedule } from '../../kernel/play/script.ts'
import type { TaskHandle } from '../../kernel/tasks/supervisor.ts'
import type { FeatureTask } from '../feature.ts'
import { type ScheduleRow, schedulesStore } from './schedules.store.ts'

export type SchedulesDeps = {
  db: Database
  clock: Clock
  log: Log
  /** Pause between two looks, in milliseconds; what is due sooner ends it. */
  intervalMs: number
  /** Whether this node runs what the deployment does by the clock. */
  mayRun: boolean
  /** Whether nothing may be run, because the clock may be wrong. */
  onHold(): boolean
  /** Leaves the event of a due time in the outbox, in the transaction that moves the cursor. */
  leave(tx: Transaction, events: readonly { kind: string; payload: string }[]): Promise<void>
}

/** The event of a due time; its payload is what the script's handler is called with. */
export const scheduleDue = 'schedule'

/** A node says so often that its script still has its names. */
const refreshMs = 60_000
/** A name that no script has had for so long is forgotten. */
const forgottenMs = 600_000

/**
 * Runs what scripts have scheduled. Each name has a cursor in the database: when it is due next.
 * The transaction that moves it leaves the event, so a due time has one event however many nodes
 * find it; of those that no node was up for, only the newest has one.
 */
export function createSchedules(deps: SchedulesDeps) {
  const { db, clock, log, intervalMs, mayRun, onHold, leave } = deps
  let served: readonly ScriptSchedule[] | undefined
  /** Whether the database has the names of the script that serves. */
  let registered = false
  let refreshedMs = Number.NEGATIVE_INFINITY
  /** Since when this node has refreshed without a gap: only then what is old is nobody's. */
  let steadySinceMs = 0
  let timer: Timer | undefined
  let self: TaskHandle | undefined

  async function announce(): Promise<void> {
    const rows = rowsOf(served ?? [], await databaseNow(db))
    const nowMs = clock.monotonicMs()
    if (!registered || nowMs - refreshedMs > 2 * refreshMs) steadySinceMs = nowMs
    if (registered) await schedulesStore.refresh(db, rows)
    else await schedulesStore.register(db, rows)
    registered = true
    refreshedMs = nowMs
    if (nowMs - steadySinceMs < forgottenMs) return
    const gone = await schedulesStore.removeUnseen(db, (await databaseNow(db)) - forgottenMs)
    for (const { name } of gone) log.info('forgot a schedule that no script has', { name })
  }

  /** Moves the cursor of a name that is due, and leaves the event of the newest due time. */
  async function fire(row: ScheduleRow, now_unix_ms: number): Promise<void> {
    const { name, cron, next_due_at_unix_ms: from } = row
    const schedule = parseCron(cron)
    const due_at_unix_ms = schedule?.between(from - 1, now_unix_ms)?.newest
    const to = schedule?.next(now_unix_ms)
    if (to === undefined) return
    await db.transaction(
      async (tx) => {
        const moved = { name, cron, from, to, now_unix_ms }
        const fencing_token = await schedulesStore.move(tx, moved)
        // A cursor that is no time of its expression has nothing to run.
        if (fencing_token === undefined || due_at_unix_ms === undefined) return
        const payload = JSON.stringify({ name, due_at_unix_ms, fencing_token })
        await leave(tx, [{ kind: scheduleDue, payload }])
      },
      { isolation: 'read committed' },
    )
  }

  /** In how long the next of the script's names is due. */
  async function runDue(): Promise<number | undefined> {
    const rows = await schedulesStore.all(db)
    const nowUnixMs = await databaseNow(db)
    let next: number | undefined
    for (const row of rows.filter(({ name }) => served?.some((each) => each.name === name))) {
      const dueInMs = row.next_due_at_unix_ms - nowUnixMs
      if (dueInMs > 0) next = Math.min(next ?? dueInMs, dueInMs)
      else {
        await fire(row, nowUnixMs).catch((error: unknown) =>
          log.error('a schedule could not be run', { name: row.name, error }),
        )
      }
    }
    return next
  }

  const task: FeatureTask = {
    name: 'schedules',
    intervalMs,
    needsDatabase: true,
    async run() {
      timer?.cancel()
      if (served === undefined || onHold()) return
      if (!registered || clock.monotonicMs() - refreshedMs >= refreshMs) await announce()
      if (!mayRun || served.length === 0) return
      const dueInMs = await runDue()
      if (dueInMs === undefined || dueInMs >= intervalMs) return
      timer = clock.after(dueInMs, () => self?.wake())
    },
    started(handle) {
      self = handle
    },
  }

  return {
    task,
    /** What the script that serves wants to be called for; undefined while none serves. */
    serve(schedules: readonly ScriptSchedule[] | undefined): void {
      served = schedules
      registered = false
      self?.wake()
    },
    /** Whether an event is of a name that was forgotten. */
    async isOver(payload: string): Promise<boolean> {
      const { name }: { name: string } = JSON.parse(payload)
      return !(await schedulesStore.isKnown(db, name))
    },
    stop: async () => timer?.cancel(),
  }
}

function rowsOf(schedules: readonly ScriptSchedule[], nowUnixMs: number): ScheduleRow[] {
  return schedules.flatMap(({ name, cron }) => {
    const next_due_at_unix_ms = parseCron(cron)?.next(nowUnixMs)
    if (next_due_at_unix_ms === undefined) return []
    return [{ name, cron, next_due_at_unix_ms, fencing_token: 0, seen_at_unix_ms: nowUnixMs }]
  })
}
