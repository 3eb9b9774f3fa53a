import type { Queries } from '../../../database/database.ts'
import { type Row, type Statement, statement } from '../../../database/statement.ts'
import { storageIndexes } from '../../../database/tables/storage.ts'
import { pageBytesMax } from '../storage.store.ts'

/** Fields that a query may ask for at once, beside the one that it is ordered by. */
export const queryFieldsMax = 8

/**
 * The state of the index comes with every row; an empty page is one row without an object. A row
 * that has no value does not fit into the page any more, nor does any behind it.
 */
const found = {
  state: storageIndexes.columns.state,
  position: 'text?',
  user_id: 'text?',
  key: 'text?',
  version: 'text?',
  read_permission: 'integer?',
  write_permission: 'integer?',
  value: 'text?',
} as const
export type FoundRow = Row<typeof found>

const page = {
  id: 'integer',
  collection: 'text',
  after_user_id: 'text',
  after_key: 'text',
  limit: 'integer',
} as const
export type QueryPage = Row<typeof page>

type Params = Readonly<Record<string, 'text' | 'integer'>>

/** Whether the first field has one value, or all from one up to another. */
type First = 'equal' | 'ordered'

const firsts = {
  equal: `e0.value = :value_0 AND (e0.user_id, e0.key) > (:after_user_id, :after_key)`,
  ordered: `e0.value < :below
    AND (e0.value, e0.user_id, e0.key) > (:value_0, :after_user_id, :after_key)`,
} satisfies Record<First, string>

const orders = {
  equal: (of: string) => `${of}.user_id, ${of}.key`,
  ordered: (of: string) => `${of}.position, ${of}.user_id, ${of}.key`,
} satisfies Record<First, (of: string) => string>

/**
 * The entries of the first field, in their order, of which the object must have the others too.
 * Joined in the order in which they stand, or an engine without statistics might sort a million.
 */
function queryOf(fields: number, first: First): Statement<Params, typeof found> {
  const others = Array.from({ length: fields - 1 }, (_, at) => at + 1)
  const params: Record<string, 'text' | 'integer'> = { ...page }
  if (first === 'ordered') params.below = 'text'
  for (let at = 0; at < fields; at += 1) {
    params[`field_${at}`] = 'text'
    params[`value_${at}`] = 'text'
  }
  const joins = others.map((at) => `CROSS JOIN storage_index_entries e${at}`)
  const same = others.map(
    (at) => `AND e${at}.index_id = :id AND e${at}.field = :field_${at}
      AND e${at}.value = :value_${at} AND e${at}.user_id = e0.user_id AND e${at}.key = e0.key`,
  )
  return statement({
    name: `storage.query-${first}-${fields}`,
    text: `SELECT i.state, p.position, p.user_id, p.key, p.version, p.read_permission,
        p.write_permission, v.value
      FROM storage_indexes i LEFT JOIN (
        SELECT q.position, q.user_id, q.key, q.version, q.read_permission, q.write_permission,
          q.bytes, SUM(q.bytes) OVER (ORDER BY ${orders[first]('q')}) - q.bytes AS bytes_before
        FROM (SELECT e0.value AS position, o.user_id, o.key, o.version, o.read_permission,
          o.write_permission, o.bytes
        FROM storage_index_entries e0 ${joins.join(' ')} CROSS JOIN storage_objects o
        WHERE e0.index_id = :id AND e0.field = :field_0 AND ${firsts[first]} ${same.join(' ')}
          AND o.collection = :collection AND o.user_id = e0.user_id AND o.key = e0.key
        ORDER BY ${first === 'ordered' ? 'e0.value, ' : ''}e0.user_id, e0.key
        LIMIT :limit) AS q) AS p ON 1 = 1
      LEFT JOIN storage_objects v
        ON v.collection = :collection AND v.user_id = p.user_id AND v.key = p.key
          AND (p.bytes_before = 0 OR p.bytes_before + p.bytes <= ${pageBytesMax})
      WHERE i.id = :id ORDER BY ${orders[first]('p')}`,
    params,
    row: found,
  })
}

const queries = {
  equal: Array.from({ length: queryFieldsMax }, (_, at) => queryOf(at + 1, 'equal')),
  ordered: Array.from({ length: queryFieldsMax + 1 }, (_, at) => queryOf(at + 1, 'ordered')),
}

type Asked = QueryPage & {
  /** What the object must have; ordered by the first, if that has a `below`. */
  entries: readonly { field: string; value: string }[]
  /** The first entry has not one value, but those from its own to this one, which is not in. */
  below?: string | undefined
}

/** The objects that have all of the entries, and the state of the index at that moment. */
export function queryEntries(tx: Queries, { entries, below, ...page }: Asked): Promise<FoundRow[]> {
  const query = queries[below === undefined ? 'equal' : 'ordered'][entries.length - 1]
  if (query === undefined) throw new Error('a query has 1 to 8 entries, and its order')
  const params: Record<string, string | number> = { ...page, ...(below && { below }) }
  for (const [at, { field, value }] of entries.entries()) {
    params[`field_${at}`] = field
    params[`value_${at}`] = value
  }
  return tx.all(query, params)
}
