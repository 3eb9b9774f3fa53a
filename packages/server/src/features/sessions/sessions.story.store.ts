import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { sessions } from '../../database/tables/accounts.ts'
import { pick } from '../../database/tables/table.ts'
import type { Stories } from '../feature.ts'

const place = { 's.created_at_unix_ms': ':at_unix_ms', 's.id': ':ref' }

const signIns = statement({
  name: 'sessions.sign-ins-of-user',
  text: `SELECT s.id, s.created_at_unix_ms, s.revoked_at_unix_ms FROM sessions s
    WHERE ${ofOneUser('s.account_id', place)}`,
  params: { user_id: 'text', at_unix_ms: 'time', ref: 'text', limit: 'integer' },
  row: pick(sessions, 'id', 'created_at_unix_ms', 'revoked_at_unix_ms'),
})

/** Sign-ins of a user, whose sessions may have ended since. */
export const signInStory: Stories['sign_in'] = {
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(signIns, { user_id, ...before, limit })
    return rows.map(({ id, created_at_unix_ms, revoked_at_unix_ms }) => ({
      at_unix_ms: created_at_unix_ms,
      ref: id,
      text: revoked_at_unix_ms === null ? 'signed in' : 'signed in; the session was ended',
    }))
  },
}
