import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { friendEdges } from '../../database/tables/friends.ts'
import { pick } from '../../database/tables/table.ts'
import type { Stories } from '../feature.ts'

const place = { 'f.updated_unix_ms': ':at_unix_ms', 'f.other_id': ':ref' }

const relationsOf = statement({
  name: 'friends.relations-by-time',
  text: `SELECT f.other_id, f.state, f.updated_unix_ms FROM friend_edges f
    WHERE ${ofOneUser('f.user_id', place)}`,
  params: { user_id: 'text', at_unix_ms: 'time', ref: 'text', limit: 'integer' },
  row: pick(friendEdges, 'other_id', 'state', 'updated_unix_ms'),
})

/** The account that each of them is about is the ref. */
const words = {
  friend: 'became friends',
  invited_sent: 'sent an invitation',
  invited_received: 'got an invitation',
  blocked: 'blocked',
} as const

/** Relations of a user, by when they last changed. */
export const friendStory: Stories['friend'] = {
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(relationsOf, { user_id, ...before, limit })
    return rows.map(({ other_id, state, updated_unix_ms }) => ({
      at_unix_ms: updated_unix_ms,
      ref: other_id,
      text: words[state],
    }))
  },
}
