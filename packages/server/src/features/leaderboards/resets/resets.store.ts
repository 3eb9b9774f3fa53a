import type { Queries, Transaction } from '../../../database/database.ts'
import { batchStatement, type Row, statement } from '../../../database/statement.ts'
import { leaderboards } from '../../../database/tables/leaderboards.ts'
import { pick } from '../../../database/tables/table.ts'

/** What a reset needs to know of a board. The cursor is `next_due_at_unix_ms`. */
const scheduledRow = {
  ...pick(leaderboards, 'id', 'sort', 'reset_schedule', 'period'),
  next_due_at_unix_ms: 'time',
} as const
export type ScheduledBoard = Row<typeof scheduledRow>

/** The time is a parameter, since PostgreSQL uses no index for a clock that goes on. */
export type DuePage = {
  now_unix_ms: number
  after_unix_ms: number
  after_id: string
  limit: number
}

const duePage = statement({
  name: 'leaderboards-resets.due-page',
  text: `SELECT id, sort, reset_schedule, period, next_due_at_unix_ms FROM leaderboards
    WHERE next_due_at_unix_ms <= :now_unix_ms
      AND (next_due_at_unix_ms, id) > (:after_unix_ms, :after_id)
    ORDER BY next_due_at_unix_ms, id LIMIT :limit`,
  params: {
    now_unix_ms: 'integer',
    after_unix_ms: 'integer',
    after_id: 'text',
    limit: 'integer',
  },
  row: scheduledRow,
})

/** The lock is held until the end of the transaction, and the time is read under it. */
const dueBoard = statement({
  name: 'leaderboards-resets.due-board',
  text: `SELECT b.id, b.sort, b.reset_schedule, b.period, b.next_due_at_unix_ms FROM leaderboards b
    WHERE b.id = :id AND b.next_due_at_unix_ms <= {{now}} {{for update of b}}`,
  params: { id: 'text' },
  row: scheduledRow,
})

const count = statement({
  name: 'leaderboards-resets.count',
  text: 'SELECT COUNT(*) AS boards FROM leaderboards WHERE next_due_at_unix_ms IS NOT NULL',
  row: { boards: 'integer' },
})

const outlook = statement({
  name: 'leaderboards-resets.outlook',
  text: `SELECT first_unix_ms, upcoming_unix_ms FROM
    (SELECT MIN(next_due_at_unix_ms) AS first_unix_ms FROM leaderboards
      WHERE next_due_at_unix_ms IS NOT NULL) AS known,
    (SELECT MIN(next_due_at_unix_ms) AS upcoming_unix_ms FROM leaderboards
      WHERE next_due_at_unix_ms > :now_unix_ms) AS later`,
  params: { now_unix_ms: 'integer' },
  row: { first_unix_ms: 'integer?', upcoming_unix_ms: 'integer?' },
})

const epoch = statement({
  name: 'leaderboards-resets.epoch',
  text: `SELECT period FROM leaderboard_periods
    WHERE board_id = :board_id AND due_at_unix_ms = :due_at_unix_ms`,
  params: { board_id: 'text', due_at_unix_ms: 'integer' },
  row: { period: 'integer' },
})

const moveCursor = statement({
  name: 'leaderboards-resets.move-cursor',
  text: `UPDATE leaderboards SET next_due_at_unix_ms = :to
    WHERE id = :id AND next_due_at_unix_ms = :from`,
  params: { id: 'text', from: 'integer', to: 'integer?' },
})

const clearCursors = statement({
  name: 'leaderboards-resets.clear-cursors',
  text: `UPDATE leaderboards SET next_due_at_unix_ms = NULL WHERE next_due_at_unix_ms IS NOT NULL`,
})

const unscheduledPage = statement({
  name: 'leaderboards-resets.unscheduled-page',
  text: `SELECT id, reset_schedule FROM leaderboards
    WHERE next_due_at_unix_ms IS NULL AND reset_schedule IS NOT NULL AND id > :after_id
    ORDER BY id LIMIT :limit`,
  params: { after_id: 'text', limit: 'integer' },
  row: { id: 'text', reset_schedule: 'text' },
})

/** A board that was made anew under its id meanwhile may have another schedule, or its cursor. */
const setCursors = batchStatement({
  name: 'leaderboards-resets.set-cursors',
  text: `UPDATE leaderboards SET next_due_at_unix_ms = r.next_due_at_unix_ms FROM {{rows}} AS r
    WHERE leaderboards.id = r.id AND leaderboards.reset_schedule = r.reset_schedule
      AND leaderboards.next_due_at_unix_ms IS NULL`,
  params: { id: 'text', reset_schedule: 'text', next_due_at_unix_ms: 'integer' },
})

export const resetsStore = {
  /** Boards that are due, those that have waited longest first. */
  duePage: (tx: Queries, page: DuePage) => tx.all(duePage, page),
  /** The board, locked, if it is due. */
  dueBoard: (tx: Transaction, id: string) => tx.get(dueBoard, { id }),
  /** How many boards are scheduled; it takes as long as there are many. */
  count: async (tx: Queries) => (await tx.get(count, {}))?.boards ?? 0,
  /** When the first board is due, and when the first that is not due yet. */
  async outlook(tx: Queries, now_unix_ms: number): Promise<Row<typeof outlook.row>> {
    return (
      (await tx.get(outlook, { now_unix_ms })) ?? { first_unix_ms: null, upcoming_unix_ms: null }
    )
  },
  /** Whether the board was reset for this time already. */
  hasEpoch: async (tx: Transaction, board_id: string, due_at_unix_ms: number): Promise<boolean> =>
    (await tx.get(epoch, { board_id, due_at_unix_ms })) !== undefined,
  moveCursor: (tx: Transaction, move: { id: string; from: number; to: number | null }) =>
    tx.run(moveCursor, move),
  clearCursors: (db: Queries) => db.run(clearCursors, {}),
  unscheduledPage: (db: Queries, after_id: string, limit: number) =>
    db.all(unscheduledPage, { after_id, limit }),
  setCursors: (db: Queries, cursors: readonly Row<typeof setCursors.params>[]) =>
    db.each(setCursors, cursors),
}
