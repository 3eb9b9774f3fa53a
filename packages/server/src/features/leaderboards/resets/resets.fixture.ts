import type { Database, Transaction } from '../../../database/database.ts'
import { createLeases } from '../../../database/jobs/leases.ts'
import { statement } from '../../../database/statement.ts'
import { createFakeClock, type FakeClock } from '../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { createClockWatch } from '../../../kernel/time/clock-watch.ts'
import { beginPeriod } from '../leaderboards.periods.ts'
import { leaderboardsStore } from '../leaderboards.store.ts'
import { createResetPass } from './resets.jobs.ts'
import { createResets, type Epoch } from './resets.ts'

const cursors = statement({
  name: 'resets-test.cursors',
  text: 'SELECT id, next_due_at_unix_ms FROM leaderboards ORDER BY id',
  row: { id: 'text', next_due_at_unix_ms: 'integer?' },
})
const epochs = statement({
  name: 'resets-test.epochs',
  text: `SELECT board_id, due_at_unix_ms, occurrences FROM leaderboard_periods
    WHERE due_at_unix_ms IS NOT NULL ORDER BY board_id, due_at_unix_ms`,
  row: { board_id: 'text', due_at_unix_ms: 'integer', occurrences: 'integer' },
})

export type TestBoard = { id: string; reset_schedule: string | null; cursor: number | null }

/** Boards in a store, as nodes before had left them. */
export async function addBoards(db: Database, boards: readonly TestBoard[]): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { cursor: next_due_at_unix_ms, ...board } of boards) {
      const period = await beginPeriod(tx, board.id)
      const rule = { sort: 'desc', operator: 'best', created_at_unix_ms: 0 } as const
      await leaderboardsStore.insert(tx, { ...board, ...rule, period, next_due_at_unix_ms })
    }
  })
}

/** When each board is due, as an object by id. */
export async function cursorsOf(db: Database): Promise<Record<string, number | null>> {
  const rows = await db.all(cursors, {})
  return Object.fromEntries(rows.map((row) => [row.id, row.next_due_at_unix_ms]))
}

/** All resets that were ever done. */
export const epochsOf = (db: Database) => db.all(epochs, {})

type TestNodeOptions = {
  db: Database
  clock?: FakeClock
  holder?: string
  execute?: boolean
  /** Called within each reset, after the period is closed. */
  periodClosed?: (tx: Transaction, epoch: Epoch) => Promise<void>
}

/** What executes schedules on one node, without the rest of it. */
export function openResetNode(options: TestNodeOptions) {
  const { db, clock = createFakeClock(), holder = 'bt1-a', execute = true } = options
  const log = createRecordedLog()
  const watch = createClockWatch({ clock, log })
  const leases = createLeases({ db, clock, log, holder, lifeMs: 15_000 })
  const resets = createResets({
    db,
    log,
    execute,
    onHold: watch.onHold,
    periodClosed: options.periodClosed ?? (async () => undefined),
  })
  const pass = createResetPass({ db, clock, log, resets, lease: leases.of('boards') })
  const { signal } = new AbortController()
  return {
    clock,
    log,
    leases,
    resets,
    pass,
    run: () => pass.run({ signal, progress: () => undefined }),
  }
}
