import type { Queries } from '../../../database/database.ts'
import { type Row, statement } from '../../../database/statement.ts'
import { lagArtifacts } from '../../../database/tables/lag.ts'
import { pick } from '../../../database/tables/table.ts'

const columns = lagArtifacts.columns
const names = Object.keys(columns)
const select = `SELECT ${names.join(', ')} FROM lag_artifacts`
export type ArtifactRow = Row<typeof columns>

const own = pick(lagArtifacts, 'handle', 'node_id')
const sized = pick(lagArtifacts, 'handle', 'compressed_bytes')

const insert = statement({
  name: 'lag-artifacts.insert',
  text: `INSERT INTO lag_artifacts (${names.join(', ')})
    VALUES (${names.map((name) => `:${name}`).join(', ')})`,
  params: columns,
})

const byHandle = statement({
  name: 'lag-artifacts.by-handle',
  text: `${select} WHERE handle = :handle`,
  params: pick(lagArtifacts, 'handle'),
  row: columns,
})

const kept = statement({
  name: 'lag-artifacts.kept',
  text: `${select} WHERE capture_id = :capture_id AND available = 1 AND handle < :after
    ORDER BY handle DESC LIMIT :limit`,
  params: { capture_id: 'text', after: 'text', limit: 'integer' },
  row: columns,
})

/** Deleting begins with this, so that nothing reads what is about to go. */
const markGone = statement({
  name: 'lag-artifacts.mark-gone',
  text: 'UPDATE lag_artifacts SET available = 0 WHERE handle = :handle AND node_id = :node_id',
  params: own,
})

const remove = statement({
  name: 'lag-artifacts.remove',
  text: 'DELETE FROM lag_artifacts WHERE handle = :handle AND node_id = :node_id',
  params: own,
})

const expired = statement({
  name: 'lag-artifacts.expired',
  text: `SELECT handle, compressed_bytes FROM lag_artifacts
    WHERE node_id = :node_id AND received_at_unix_ms <= :expired_unix_ms AND handle > :after
    ORDER BY handle LIMIT :limit`,
  params: { node_id: 'text', expired_unix_ms: 'integer', after: 'text', limit: 'integer' },
  row: sized,
})

const ofNode = statement({
  name: 'lag-artifacts.of-node',
  text: `SELECT handle, compressed_bytes, available FROM lag_artifacts
    WHERE node_id = :node_id AND handle > :after ORDER BY handle LIMIT :limit`,
  params: { node_id: 'text', after: 'text', limit: 'integer' },
  row: pick(lagArtifacts, 'handle', 'compressed_bytes', 'available'),
})

/** Queries about uploaded recordings; every function takes the transaction first. */
export const artifactsStore = {
  insert: (tx: Queries, row: ArtifactRow) => tx.run(insert, row),
  byHandle: (tx: Queries, handle: string) => tx.get(byHandle, { handle }),
  /** The newest of a capture whose bytes are kept, behind the cursor. */
  kept: (tx: Queries, query: Row<(typeof kept)['params']>) => tx.all(kept, query),
  markGone: (tx: Queries, of: Row<typeof own>) => tx.run(markGone, of),
  remove: (tx: Queries, of: Row<typeof own>) => tx.run(remove, of),
  /** By handle, behind one of them. */
  expired: (tx: Queries, bounds: Row<(typeof expired)['params']>) => tx.all(expired, bounds),
  /** By handle, behind one of them. */
  ofNode: (tx: Queries, query: Row<(typeof ofNode)['params']>) => tx.all(ofNode, query),
}
