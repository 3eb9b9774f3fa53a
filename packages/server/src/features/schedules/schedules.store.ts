import type { Queries, Transaction } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { scriptSchedules } from '../../database/tables/schedules.ts'

const scheduleRow = scriptSchedules.columns
export type ScheduleRow = Row<typeof scheduleRow>

const names = Object.keys(scheduleRow)
const given = `INSERT INTO script_schedules (${names.join(', ')})
  SELECT ${names.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r
  WHERE true
  ORDER BY r.name`

/** What has another expression now is due by that one. */
const register = batchStatement({
  name: 'schedules.register',
  text: `${given}
    ON CONFLICT (name) DO UPDATE SET
      next_due_at_unix_ms = CASE WHEN script_schedules.cron = excluded.cron
        THEN script_schedules.next_due_at_unix_ms ELSE excluded.next_due_at_unix_ms END,
      cron = excluded.cron,
      seen_at_unix_ms = excluded.seen_at_unix_ms`,
  params: scheduleRow,
})

/** Another script may have another expression for the name: the one loaded last holds. */
const refresh = batchStatement({
  name: 'schedules.refresh',
  text: `${given}
    ON CONFLICT (name) DO UPDATE SET seen_at_unix_ms = excluded.seen_at_unix_ms`,
  params: scheduleRow,
})

const removeUnseen = statement({
  name: 'schedules.remove-unseen',
  text: 'DELETE FROM script_schedules WHERE seen_at_unix_ms <= :until_unix_ms RETURNING name',
  params: { until_unix_ms: 'integer' },
  row: { name: 'text' },
})

const all = statement({
  name: 'schedules.all',
  text: `SELECT ${names.join(', ')} FROM script_schedules ORDER BY next_due_at_unix_ms, name`,
  row: scheduleRow,
})

const find = statement({
  name: 'schedules.find',
  text: 'SELECT name FROM script_schedules WHERE name = :name',
  params: { name: 'text' },
  row: { name: 'text' },
})

/** The token grows also over a time in which the name was forgotten. */
const move = statement({
  name: 'schedules.move',
  text: `UPDATE script_schedules SET next_due_at_unix_ms = :to,
      fencing_token = CASE WHEN fencing_token < :now_unix_ms
        THEN :now_unix_ms ELSE fencing_token + 1 END
    WHERE name = :name AND cron = :cron AND next_due_at_unix_ms = :from
    RETURNING fencing_token`,
  params: {
    name: 'text',
    cron: 'text',
    from: 'integer',
    to: 'integer',
    now_unix_ms: 'integer',
  },
  row: { fencing_token: 'integer' },
})

/** Queries about schedules of scripts; every function takes the transaction first. */
export const schedulesStore = {
  register: (tx: Queries, rows: readonly ScheduleRow[]) => tx.each(register, rows),
  refresh: (tx: Queries, rows: readonly ScheduleRow[]) => tx.each(refresh, rows),
  removeUnseen: (tx: Queries, until_unix_ms: number) => tx.all(removeUnseen, { until_unix_ms }),
  all: (tx: Queries) => tx.all(all, {}),
  isKnown: async (tx: Queries, name: string): Promise<boolean> =>
    (await tx.get(find, { name })) !== undefined,
  /** The token of the due time, or undefined when another node has moved the cursor. */
  move: async (tx: Transaction, moved: Row<(typeof move)['params']>) =>
    (await tx.get(move, moved))?.fencing_token,
}
