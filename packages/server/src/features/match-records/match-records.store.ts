import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { matchRecords } from '../../database/tables/play-records.ts'
import { pick } from '../../database/tables/table.ts'

const columns = matchRecords.columns
const names = Object.keys(columns)
const selected = names.join(', ')
export type RecordRow = Row<typeof columns>

const changing = names.filter((name) => name !== 'match_id')

/** The whole row, so that a write that was lost is repaired by the next; what is closed stays. */
const upsert = batchStatement({
  name: 'match-records.upsert',
  text: `INSERT INTO match_records (${selected})
    SELECT ${names.map((name) => `r.${name}`).join(', ')} FROM {{rows}} AS r WHERE true
    ON CONFLICT (match_id) DO UPDATE
      SET ${changing.map((name) => `${name} = excluded.${name}`).join(', ')}
      WHERE match_records.closed_at_unix_ms IS NULL`,
  params: columns,
})

const byId = statement({
  name: 'match-records.by-id',
  text: `SELECT ${selected} FROM match_records WHERE match_id = :match_id`,
  params: pick(matchRecords, 'match_id'),
  row: columns,
})

const page = { after: 'text', limit: 'integer' } as const

const list = statement({
  name: 'match-records.list',
  text: `SELECT ${selected} FROM match_records WHERE match_id < :after
    ORDER BY match_id DESC LIMIT :limit`,
  params: page,
  row: columns,
})

const listOpen = statement({
  name: 'match-records.list-open',
  text: `SELECT ${selected} FROM match_records
    WHERE closed_at_unix_ms IS NULL AND match_id < :after ORDER BY match_id DESC LIMIT :limit`,
  params: page,
  row: columns,
})

const closeOwnOrphans = statement({
  name: 'match-records.close-own-orphans',
  text: `UPDATE match_records
    SET closed_at_unix_ms = :now_unix_ms, termination_reason = 'server_closed'
    WHERE closed_at_unix_ms IS NULL AND node_id = :node_id AND boot_id <> :boot_id`,
  params: { node_id: 'text', boot_id: 'text', now_unix_ms: 'integer' },
})

/** Of boots that ended, were last seen long ago, or are not known any more. */
const closeOrphans = statement({
  name: 'match-records.close-orphans',
  text: `UPDATE match_records
    SET closed_at_unix_ms = :now_unix_ms, termination_reason = 'server_closed'
    WHERE match_id IN (
      SELECT m.match_id FROM match_records m
      WHERE m.closed_at_unix_ms IS NULL AND NOT EXISTS (
        SELECT 1 FROM node_boots b WHERE b.boot_id = m.boot_id
          AND COALESCE(b.ended_at_unix_ms, b.seen_at_unix_ms) > {{now}} - :silent_ms)
      LIMIT :batch_items)`,
  params: { now_unix_ms: 'integer', silent_ms: 'integer', batch_items: 'integer' },
})

const prune = statement({
  name: 'match-records.prune',
  text: `DELETE FROM match_records WHERE match_id IN (
      SELECT match_id FROM match_records WHERE closed_at_unix_ms <= :expired_unix_ms
      ORDER BY closed_at_unix_ms LIMIT :batch_items)`,
  params: { expired_unix_ms: 'integer', batch_items: 'integer' },
})

/** Behind every id. */
const last = '\u{10ffff}'

/** Queries about records of matches; every function takes the transaction first. */
export const matchRecordsStore = {
  upsert: (tx: Queries, rows: readonly RecordRow[]) => tx.each(upsert, rows),
  byId: (tx: Queries, match_id: string) => tx.get(byId, { match_id }),
  /** The newest behind the cursor. */
  list: (tx: Queries, query: { after?: string | undefined; limit: number; open: boolean }) => {
    const { after = last, limit, open } = query
    return tx.all(open ? listOpen : list, { after, limit })
  },
  closeOwnOrphans: (tx: Queries, boot: Row<(typeof closeOwnOrphans)['params']>) =>
    tx.run(closeOwnOrphans, boot),
  closeOrphans: (tx: Queries, bounds: Row<(typeof closeOrphans)['params']>) =>
    tx.run(closeOrphans, bounds),
  prune: (tx: Queries, bounds: Row<(typeof prune)['params']>) => tx.run(prune, bounds),
}
