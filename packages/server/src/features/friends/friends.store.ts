import type { Queries } from '../../database/database.ts'
import { batchStatement, type Row, statement } from '../../database/statement.ts'
import { friendEdges } from '../../database/tables/friends.ts'
import { pick } from '../../database/tables/table.ts'

const pairParams = pick(friendEdges, 'user_id', 'other_id')
export type PairKey = Row<typeof pairParams>

/**
 * The accounts of a pair that exist. Everybody locks the two in the same order, so the changes of
 * one pair happen one after another and none waits for another that waits for it.
 */
const lockAccounts = statement({
  name: 'friends.lock-accounts',
  text: `SELECT a.id FROM accounts a WHERE a.id IN (:user_id, :other_id)
    ORDER BY a.id {{for update of a}}`,
  params: pairParams,
  row: { id: 'text' },
})

const friendRow = pick(friendEdges, 'user_id', 'state', 'updated_unix_ms')

const list = statement({
  name: 'friends.list',
  text: `SELECT other_id AS user_id, state, updated_unix_ms FROM friend_edges
    WHERE user_id = :user_id ORDER BY other_id`,
  params: { user_id: 'text' },
  row: friendRow,
  long: true,
})

const page = statement({
  name: 'friends.page',
  text: `SELECT other_id AS user_id, state, updated_unix_ms FROM friend_edges
    WHERE user_id = :user_id AND other_id > :after ORDER BY other_id LIMIT :limit`,
  params: { user_id: 'text', after: 'text', limit: 'integer' },
  row: friendRow,
})

const edgesOfPair = statement({
  name: 'friends.edges-of-pair',
  text: `SELECT user_id, state FROM friend_edges WHERE user_id = :user_id AND other_id = :other_id
    UNION ALL
    SELECT user_id, state FROM friend_edges WHERE user_id = :other_id AND other_id = :user_id`,
  params: pairParams,
  row: pick(friendEdges, 'user_id', 'state'),
})

const putEdges = batchStatement({
  name: 'friends.put-edges',
  text: `INSERT INTO friend_edges (user_id, other_id, state, updated_unix_ms)
    SELECT r.user_id, r.other_id, r.state, r.updated_unix_ms FROM {{rows}} AS r
    WHERE true
    ON CONFLICT (user_id, other_id) DO UPDATE
    SET state = excluded.state, updated_unix_ms = excluded.updated_unix_ms`,
  params: friendEdges.columns,
})

const deleteEdges = batchStatement({
  name: 'friends.delete-edges',
  text: `DELETE FROM friend_edges WHERE (user_id, other_id) IN (
    SELECT r.user_id, r.other_id FROM {{rows}} AS r)`,
  params: pairParams,
})

/** Queries about relations; every function takes the transaction first. */
export const friendsStore = {
  lockAccounts: async (tx: Queries, pair: PairKey) =>
    new Set((await tx.all(lockAccounts, pair)).map(({ id }) => id)),
  /** The relations of one account by the id of the other. */
  list: (tx: Queries, user_id: string) => tx.all(list, { user_id }),
  /** Those of `list` behind the other's id `after`, up to `limit`. */
  page: (tx: Queries, wanted: Row<(typeof page)['params']>) => tx.all(page, wanted),
  edgesOfPair: (tx: Queries, pair: PairKey) => tx.all(edgesOfPair, pair),
  putEdges: (tx: Queries, edges: readonly Row<typeof friendEdges.columns>[]) =>
    tx.each(putEdges, edges),
  deleteEdges: (tx: Queries, edges: readonly PairKey[]) => tx.each(deleteEdges, edges),
}
