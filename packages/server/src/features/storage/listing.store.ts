import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { pageBytesMax } from './storage.store.ts'

const page = {
  collection: 'text',
  user_id: 'text',
  from_key: 'text',
  below_key: 'text',
  limit: 'integer',
} as const

/** A row that has no value does not fit into the page any more, nor does any behind it. */
const listed = {
  key: 'text',
  version: 'text',
  read_permission: 'integer',
  write_permission: 'integer',
  value: 'text?',
} as const
export type ListedRow = Row<typeof listed>

/** Values are read for the rows of the page alone. */
const withValues = statement({
  name: 'storage.list-with-values',
  text: `SELECT p.key, p.version, p.read_permission, p.write_permission, v.value
    FROM (SELECT q.*, SUM(q.bytes) OVER (ORDER BY q.key) - q.bytes AS bytes_before
      FROM (SELECT key, version, read_permission, write_permission, bytes FROM storage_objects
        WHERE collection = :collection AND user_id = :user_id
          AND key >= :from_key AND key < :below_key
        ORDER BY key LIMIT {{unplanned :limit}}) AS q) AS p
    LEFT JOIN storage_objects v
      ON v.collection = :collection AND v.user_id = :user_id AND v.key = p.key
        AND (p.bytes_before = 0 OR p.bytes_before + p.bytes <= ${pageBytesMax})
    ORDER BY p.key`,
  params: page,
  row: listed,
})

/** The objects of one owner by key, with values up to the bytes of a page. */
export function listWithValues(tx: Queries, bounds: Row<typeof page>): Promise<ListedRow[]> {
  return tx.all(withValues, bounds)
}
