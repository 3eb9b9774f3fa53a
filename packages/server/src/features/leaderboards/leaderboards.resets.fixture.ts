import type { Database, Transaction } from '../../database/database.ts'
import { createLeases } from '../../database/leases.ts'
import { batchStatement, statement } from '../../database/statement.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { createClockWatch } from '../../kernel/clock-watch.ts'
import { createRecordedLog } from '../../kernel/log.fake.ts'
import { createResetPass } from './leaderboards.resets.jobs.ts'
import { resetsStore } from './leaderboards.resets.store.ts'
import { createResets, type Epoch } from './leaderboards.resets.ts'

const insertPeriods = batchStatement({
  name: 'resets-test.insert-periods',
  text: `INSERT INTO leaderboard_periods (board_id) SELECT r.id FROM {{rows}} AS r`,
  params: { id: 'text' },
})
const insertBoards = batchStatement({
  name: 'resets-test.insert-boards',
  text: `INSERT INTO leaderboards (id, sort, operator, reset_schedule, period, records,
      next_due_at_unix_ms, created_at_unix_ms)
    SELECT r.id, 'desc', 'best', r.reset_schedule,
      (SELECT MAX(period) FROM leaderboard_periods p WHERE p.board_id = r.id), 0,
      r.next_due_at_unix_ms, 0
    FROM {{rows}} AS r`,
  params: { id: 'text', reset_schedule: 'text?', next_due_at_unix_ms: 'integer?' },
})
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
  await db.each(
    insertPeriods,
    boards.map(({ id }) => ({ id })),
  )
  await db.each(
    insertBoards,
    boards.map(({ cursor: next_due_at_unix_ms, ...board }) => ({ ...board, next_due_at_unix_ms })),
  )
}

/** When each board is due, as an object by id. */
export async function cursorsOf(db: Database): Promise<Record<string, number | null>> {
  const rows = await db.all(cursors, {})
  return Object.fromEntries(rows.map((row) => [row.id, row.next_due_at_unix_ms]))
}

/** All resets that were ever done. */
export const epochsOf = (db: Database) => db.all(epochs, {})

export type TestNode = ReturnType<typeof openResetNode>

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
  watch.check()
  const leases = createLeases({ db, clock, log, holder, lifeMs: 15_000 })
  const resets = createResets({
    db,
    execute,
    onHold: watch.onHold,
    closePeriod: resetsStore.closePeriod,
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
