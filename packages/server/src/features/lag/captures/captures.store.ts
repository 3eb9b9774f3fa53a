import { recorderStatuses } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { batchStatement, type Row, statement } from '../../../database/statement.ts'
import { lagCaptures } from '../../../database/tables/lag.ts'
import { pick } from '../../../database/tables/table.ts'

const columns = lagCaptures.columns
const names = Object.keys(columns)
export type CaptureRow = Row<typeof columns>

const insert = statement({
  name: 'lag-captures.insert',
  text: `INSERT INTO lag_captures (${names.join(', ')})
    VALUES (${names.map((name) => `:${name}`).join(', ')})`,
  params: columns,
})

const changing = pick(lagCaptures, 'capture_id', 'state', ...recorderStatuses)
const changingNames = Object.keys(changing).filter((name) => name !== 'capture_id')

/** What is final stays, and a capture whose time is over is not made again. */
const update = batchStatement({
  name: 'lag-captures.update',
  text: `UPDATE lag_captures SET ${changingNames.map((name) => `${name} = r.${name}`).join(', ')}
    FROM {{rows}} AS r
    WHERE lag_captures.capture_id = r.capture_id
      AND lag_captures.state NOT IN ('sealed', 'expired')`,
  params: changing,
})

const byId = statement({
  name: 'lag-captures.by-id',
  text: `SELECT ${names.join(', ')} FROM lag_captures WHERE capture_id = :capture_id`,
  params: pick(lagCaptures, 'capture_id'),
  row: columns,
})

const closeOrphans = statement({
  name: 'lag-captures.close-orphans',
  text: `UPDATE lag_captures SET state = CASE WHEN EXISTS (
        SELECT 1 FROM lag_artifacts a WHERE a.capture_id = lag_captures.capture_id)
      THEN 'sealed' ELSE 'expired' END
    WHERE state IN ('recording', 'minting', 'flushing')
      AND node_id = :node_id AND boot_id <> :boot_id`,
  params: pick(lagCaptures, 'node_id', 'boot_id'),
})

/** Queries about the rows of captures; every function takes the transaction first. */
export const capturesStore = {
  insert: (tx: Queries, row: CaptureRow) => tx.run(insert, row),
  update: (tx: Queries, rows: readonly CaptureRow[]) => tx.each(update, rows.map(changes)),
  byId: (tx: Queries, capture_id: string) => tx.get(byId, { capture_id }),
  /** Ends what earlier boots of the node left open. */
  closeOrphans: (tx: Queries, boot: { node_id: string; boot_id: string }) =>
    tx.run(closeOrphans, boot),
}

function changes(row: CaptureRow): Row<typeof changing> {
  const { capture_id, state, offered, recording, failed, flushing, uploaded, missed, gone } = row
  return { capture_id, state, offered, recording, failed, flushing, uploaded, missed, gone }
}
