import type { Queries } from '../database.ts'
import { statement } from '../statement.ts'

/** The database's clock in Unix milliseconds. */
export async function databaseNow(db: Queries): Promise<number> {
  const row = await db.get(now, {})
  if (row === undefined) throw new Error('the database does not answer with the time')
  return row.now_unix_ms
}

/**
 * The latest time at which a node is known to have run or an operator to have done something. The
 * ids of sealed entries are in the order of their times, so the newest of them decides.
 */
export async function lastRecordedTime(db: Queries): Promise<number | undefined> {
  return (await db.get(lastRecorded, {}))?.last_unix_ms ?? undefined
}

const now = statement({
  name: 'stored-time.now',
  text: 'SELECT CAST({{now}} AS BIGINT) AS now_unix_ms',
  row: { now_unix_ms: 'integer' },
})

const lastRecorded = statement({
  name: 'stored-time.last-recorded',
  text: `SELECT MAX(at_unix_ms) AS last_unix_ms FROM (
      SELECT MAX(seen_at_unix_ms) AS at_unix_ms FROM node_boots
      UNION ALL SELECT MAX(ended_at_unix_ms) FROM node_boots
      UNION ALL SELECT MAX(time_unix_ms) FROM audit_unsealed
      UNION ALL SELECT time_unix_ms FROM audit_entries
        WHERE id = (SELECT MAX(id) FROM audit_entries)
    ) AS recorded`,
  row: { last_unix_ms: 'integer?' },
})
