import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { groupMembers, groups } from '../../database/tables/groups.ts'
import { pick } from '../../database/tables/table.ts'
import { numberOf, type Stories } from '../feature.ts'

const place = { 'm.joined_at_unix_ms': ':at_unix_ms', 'm.group_id': ':group_id' }

const joinedBy = statement({
  name: 'groups.joined-by',
  text: `SELECT m.group_id, m.joined_at_unix_ms, m.role, g.name
    FROM group_members m JOIN groups g ON g.id = m.group_id
    WHERE ${ofOneUser('m.user_id', place)}`,
  params: { user_id: 'text', at_unix_ms: 'time', group_id: 'integer', limit: 'integer' },
  row: { ...pick(groupMembers, 'group_id', 'joined_at_unix_ms', 'role'), ...pick(groups, 'name') },
})

/** The groups that a user is in, by when it joined. */
export const groupStory: Stories['group'] = {
  scope: 'groups:read',
  async read(tx, { user_id, before, limit }) {
    const { at_unix_ms } = before
    const rows = await tx.all(joinedBy, { user_id, at_unix_ms, group_id: numberOf(before), limit })
    return rows.map(({ group_id, joined_at_unix_ms, role, name }) => ({
      at_unix_ms: joined_at_unix_ms,
      ref: String(group_id),
      text: role === 'member' ? `joined ${name}` : `joined ${name}, ${role} now`,
    }))
  },
}
