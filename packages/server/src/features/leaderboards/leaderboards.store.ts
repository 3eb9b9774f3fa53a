import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { leaderboardRecords, leaderboards } from '../../database/tables/leaderboards.ts'
import { pick, without } from '../../database/tables/table.ts'

const boardRow = pick(leaderboards, 'id', 'sort', 'operator', 'reset_schedule', 'records')
const boardNames = Object.keys(boardRow)

const list = statement({
  name: 'leaderboards.list',
  text: `SELECT ${boardNames.join(', ')} FROM leaderboards ORDER BY id`,
  row: boardRow,
  long: true,
})

const newRow = without(leaderboards, 'records')

/** Adds nothing when there is a board of this id. */
const insert = statement({
  name: 'leaderboards.insert',
  text: `INSERT INTO leaderboards (id, sort, operator, reset_schedule, period, records,
      next_due_at_unix_ms, created_at_unix_ms)
    VALUES (:id, :sort, :operator, :reset_schedule, :period, 0, :next_due_at_unix_ms,
      :created_at_unix_ms)
    ON CONFLICT (id) DO NOTHING`,
  params: newRow,
})

const remove = statement({
  name: 'leaderboards.delete',
  text: 'DELETE FROM leaderboards WHERE id = :id RETURNING records',
  params: { id: 'text' },
  row: { records: 'integer' },
})

const lockedRow = {
  ...pick(leaderboards, 'id', 'sort', 'operator', 'period', 'records'),
  is_due: 'flag',
} as const
export type LockedBoard = Row<typeof lockedRow>

/** In one order for everybody, so that two nodes with the same boards never wait in a circle. */
const lock = batchStatement({
  name: 'leaderboards.lock',
  text: `SELECT b.id, b.sort, b.operator, b.period, b.records,
      CASE WHEN b.next_due_at_unix_ms <= {{now}} THEN 1 ELSE 0 END AS is_due
    FROM {{rows}} AS r JOIN leaderboards b ON b.id = r.id
    ORDER BY b.id {{for update of b}}`,
  params: { id: 'text' },
  row: lockedRow,
})

const countRecords = batchStatement({
  name: 'leaderboards.count-records',
  text: `UPDATE leaderboards SET records = leaderboards.records + r.delta FROM {{rows}} AS r
    WHERE leaderboards.id = r.id`,
  params: { id: 'text', delta: 'integer' },
})

const openPeriod = statement({
  name: 'leaderboards.open-period',
  text: `INSERT INTO leaderboard_periods (board_id) VALUES (:board_id) RETURNING period`,
  params: { board_id: 'text' },
  row: { period: 'integer' },
})

const dueBoard = statement({
  name: 'leaderboards.due-board',
  text: `SELECT b.period, b.records FROM leaderboards b
    WHERE b.id = :id AND b.next_due_at_unix_ms <= :due_at {{for update of b}}`,
  params: { id: 'text', due_at: 'integer' },
  row: { period: 'integer', records: 'integer' },
})

const enterPeriod = statement({
  name: 'leaderboards.enter-period',
  text: `UPDATE leaderboards
    SET period = :period, records = 0, next_due_at_unix_ms = :next_due_at_unix_ms
    WHERE id = :id`,
  params: { id: 'text', period: 'integer', next_due_at_unix_ms: 'integer?' },
})

const closePeriod = statement({
  name: 'leaderboards.close-period',
  text: `UPDATE leaderboard_periods
    SET due_at_unix_ms = :due_at_unix_ms, occurrences = :occurrences, records = :records,
      closed_at_unix_ms = {{now}}
    WHERE period = :period`,
  params: {
    period: 'integer',
    due_at_unix_ms: 'integer',
    occurrences: 'integer',
    records: 'integer',
  },
})

const dropPeriods = statement({
  name: 'leaderboards.drop-periods',
  text: 'UPDATE leaderboard_periods SET board_id = NULL WHERE board_id = :board_id',
  params: { board_id: 'text' },
})

/** Metadata stays text: a submission that moves a record only hands it on. */
export const recordRow = {
  ...without(leaderboardRecords, 'period', 'place'),
  metadata: 'text?',
} as const
export const recordNames = Object.keys(recordRow)
export type RecordRow = Row<typeof recordRow>

const storedRow = { period: 'integer', place: 'bytes', ...recordRow } as const
const storedNames = Object.keys(storedRow)
export type StoredRow = Row<typeof storedRow>

/** By the board's id, so that it can be asked for together with the lock that it waits for. */
const held = batchStatement({
  name: 'leaderboards.held-records',
  text: `SELECT ${storedNames.map((name) => `e.${name}`).join(', ')}
    FROM (SELECT b.period, r.user_id FROM {{rows}} AS r
      JOIN leaderboards b ON b.id = r.board_id {{fence}}) AS o
    JOIN leaderboard_records e ON e.period = o.period AND e.user_id = o.user_id`,
  params: { board_id: 'text', user_id: 'text' },
  row: storedRow,
})

const add = batchStatement({
  name: 'leaderboards.add-records',
  text: `INSERT INTO leaderboard_records (${storedNames.join(', ')})
    SELECT ${storedNames.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r`,
  params: storedRow,
})

const moved = storedNames.filter((name) => name !== 'period' && name !== 'user_id')
const move = batchStatement({
  name: 'leaderboards.move-records',
  text: `UPDATE leaderboard_records SET ${moved.map((name) => `${name} = r.${name}`).join(', ')}
    FROM {{rows}} AS r
    WHERE leaderboard_records.period = r.period AND leaderboard_records.user_id = r.user_id`,
  params: storedRow,
})

/** For records that stay where they are. */
const keep = batchStatement({
  name: 'leaderboards.keep-records',
  text: `UPDATE leaderboard_records SET metadata = r.metadata,
      updated_at_unix_ms = r.updated_at_unix_ms, submissions = r.submissions
    FROM {{rows}} AS r
    WHERE leaderboard_records.period = r.period AND leaderboard_records.place = r.place`,
  params: {
    period: 'integer',
    place: 'bytes',
    metadata: 'text?',
    updated_at_unix_ms: 'integer',
    submissions: 'integer',
  },
})

const removeRecord = statement({
  name: 'leaderboards.remove-record',
  text: 'DELETE FROM leaderboard_records WHERE period = :period AND user_id = :user_id',
  params: { period: 'integer', user_id: 'text' },
})

/** Queries about boards and single records; every function takes the transaction first. */
export const leaderboardsStore = {
  list: (tx: Queries) => tx.all(list, {}),
  /** False when there is a board of this id. */
  insert: async (tx: Queries, board: Row<(typeof insert)['params']>) =>
    (await tx.run(insert, board)) > 0,
  /** Answers how many records it had. */
  delete: async (tx: Queries, id: string) => (await tx.get(remove, { id }))?.records,
  /** Keeps every other change of these boards and their records waiting. */
  lock: (tx: Queries, ids: readonly string[]) =>
    tx.each(
      lock,
      ids.toSorted(byBytes).map((id) => ({ id })),
    ),
  countRecords: (tx: Queries, changes: readonly Row<(typeof countRecords)['params']>[]) =>
    tx.each(countRecords, changes),
  /** The number of a new period of the board. */
  async openPeriod(tx: Queries, board_id: string): Promise<number> {
    const row = await tx.get(openPeriod, { board_id })
    if (row === undefined) throw new Error('a period got no number')
    return row.period
  },
  /** The board, locked, if its cursor is at `due_at` or before. */
  dueBoard: (tx: Queries, board: { id: string; due_at: number }) => tx.get(dueBoard, board),
  enterPeriod: (tx: Queries, entered: Row<(typeof enterPeriod)['params']>) =>
    tx.run(enterPeriod, entered),
  closePeriod: (tx: Queries, closed: Row<(typeof closePeriod)['params']>) =>
    tx.run(closePeriod, closed),
  /** Leaves all periods of a board to retention. */
  dropPeriods: (tx: Queries, board_id: string) => tx.run(dropPeriods, { board_id }),
  held: (tx: Queries, keys: readonly Row<(typeof held)['params']>[]) => tx.each(held, keys),
  add: (tx: Queries, rows: readonly StoredRow[]) => tx.each(add, rows),
  move: (tx: Queries, rows: readonly StoredRow[]) => tx.each(move, rows),
  keep: (tx: Queries, rows: readonly Row<(typeof keep)['params']>[]) => tx.each(keep, rows),
  removeRecord: (tx: Queries, record: Row<(typeof removeRecord)['params']>) =>
    tx.run(removeRecord, record),
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
