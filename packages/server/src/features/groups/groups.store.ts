import type { Queries } from '../../database/database.ts'
import { eachEngine, type Row, statement } from '../../database/statement.ts'
import { groupMembers, groups } from '../../database/tables/groups.ts'
import { pick } from '../../database/tables/table.ts'
import { totals } from '../../database/writes/totals.ts'

const summaryRow = pick(
  groups,
  'id',
  'name',
  'description',
  'open',
  'max_size',
  'member_count',
  'created_at_unix_ms',
)
const summaryColumns = Object.keys(summaryRow).join(', ')

const memberRow = pick(groupMembers, 'user_id', 'role', 'joined_at_unix_ms')

const pageParams = { limit: 'integer', offset: 'integer' } as const
/** A page that begins later is kept from holding up others: all rows before it are read as well. */
const nearRowsMax = 1000
const member = pick(groupMembers, 'group_id', 'user_id')

const page = {
  text: `SELECT ${summaryColumns} FROM groups ORDER BY id
    LIMIT {{unplanned :limit}} OFFSET {{unplanned :offset}}`,
  params: pageParams,
  row: summaryRow,
}
const nearPage = statement({ name: 'groups.near-page', ...page })
const farPage = statement({ name: 'groups.far-page', ...page, long: true })

const filteredPage = statement({
  name: 'groups.filtered-page',
  text: `SELECT ${summaryColumns} FROM groups WHERE {{contains name :filter}}
    ORDER BY id LIMIT :limit OFFSET :offset`,
  params: { ...pageParams, filter: 'text' },
  row: summaryRow,
  long: true,
})

const countFiltered = statement({
  name: 'groups.count-filtered',
  text: 'SELECT count(*) AS total FROM groups WHERE {{contains name :filter}}',
  params: { filter: 'text' },
  row: { total: 'integer' },
  long: true,
})

const byId = statement({
  name: 'groups.by-id',
  text: `SELECT ${summaryColumns} FROM groups WHERE id = :id`,
  params: { id: 'integer' },
  row: summaryRow,
})

const lock = statement({
  name: 'groups.lock',
  text: `SELECT g.max_size, g.member_count FROM groups g WHERE g.id = :id {{for update of g}}`,
  params: { id: 'integer' },
  row: pick(groups, 'max_size', 'member_count'),
})

/** Adds nothing when another group has the name. */
const insert = statement({
  name: 'groups.insert',
  text: `INSERT INTO groups (name, description, open, max_size, member_count, members_joined,
      created_at_unix_ms)
    VALUES (:name, :description, :open, :max_size, 0, 0, :created_at_unix_ms)
    ON CONFLICT (name) DO NOTHING
    RETURNING id`,
  params: pick(groups, 'name', 'description', 'open', 'max_size', 'created_at_unix_ms'),
  row: { id: 'integer' },
})

const update = statement({
  name: 'groups.update',
  text: `UPDATE groups
    SET description = COALESCE(:description, description), open = COALESCE(:open, open),
      max_size = COALESCE(:max_size, max_size),
      members_kept = CASE WHEN :max_size IS NULL THEN members_kept ELSE member_count END
    WHERE id = :id
    RETURNING name`,
  params: { id: 'integer', description: 'text?', open: 'flag?', max_size: 'integer?' },
  row: { name: 'text' },
})

/** Its memberships go with it. */
const remove = statement({
  name: 'groups.delete',
  text: 'DELETE FROM groups WHERE id = :id RETURNING name',
  params: { id: 'integer' },
  row: { name: 'text' },
})

const countIn = statement({
  name: 'groups.count-in',
  text: `UPDATE groups
    SET member_count = member_count + 1, members_joined = members_joined + 1
    WHERE id = :group_id
    RETURNING members_joined`,
  params: { group_id: 'integer' },
  row: { members_joined: 'integer' },
})

const countOut = statement({
  name: 'groups.count-out',
  text: `UPDATE groups SET member_count = member_count - 1,
      members_kept = CASE WHEN members_kept < member_count THEN members_kept
        ELSE member_count - 1 END
    WHERE id = :group_id`,
  params: { group_id: 'integer' },
})

const members = statement({
  name: 'groups.members',
  text: `SELECT user_id, role, joined_at_unix_ms FROM group_members WHERE group_id = :group_id
    ORDER BY join_order`,
  params: { group_id: 'integer' },
  row: memberRow,
})

const roleOf = statement({
  name: 'groups.role-of',
  text: 'SELECT role FROM group_members WHERE group_id = :group_id AND user_id = :user_id',
  params: member,
  row: pick(groupMembers, 'role'),
})

const anotherSuperadmin = statement({
  name: 'groups.another-superadmin',
  text: `SELECT user_id FROM group_members
    WHERE group_id = :group_id AND role = 'superadmin' AND user_id <> :user_id LIMIT 1`,
  params: member,
  row: { user_id: 'text' },
})

const insertMember = statement({
  name: 'groups.insert-member',
  text: `INSERT INTO group_members (group_id, user_id, role, join_order, joined_at_unix_ms)
    VALUES (:group_id, :user_id, :role, :join_order, :joined_at_unix_ms)`,
  params: groupMembers.columns,
})

const setRole = statement({
  name: 'groups.set-role',
  text: `UPDATE group_members SET role = :role
    WHERE group_id = :group_id AND user_id = :user_id`,
  params: pick(groupMembers, 'group_id', 'user_id', 'role'),
})

const removeMember = statement({
  name: 'groups.remove-member',
  text: 'DELETE FROM group_members WHERE group_id = :group_id AND user_id = :user_id',
  params: member,
})

const ofUser = statement({
  name: 'groups.of-user',
  text: `SELECT g.id, g.name, m.role, m.joined_at_unix_ms FROM group_members m
    JOIN groups g ON g.id = m.group_id
    WHERE m.user_id = :user_id ORDER BY g.id`,
  params: { user_id: 'text' },
  row: { ...pick(groups, 'id', 'name'), ...pick(groupMembers, 'role', 'joined_at_unix_ms') },
})

const summariesOf = statement({
  name: 'groups.summaries-of-user',
  text: eachEngine((engine) => {
    const own = `SELECT ${summaryColumns} FROM groups WHERE id`
    const found = 'SELECT group_id FROM group_members WHERE user_id = :user_id'
    // Row by row: a join PostgreSQL decides by what it knows of the tables.
    return engine === 'postgres'
      ? `SELECT g.* FROM (${found} {{fence}}) AS m
        CROSS JOIN {{lateral}} (${own} = m.group_id {{fence}}) AS g ORDER BY g.id`
      : `${own} IN (${found}) ORDER BY id`
  }),
  params: { user_id: 'text' },
  row: summaryRow,
})

type MemberKey = Row<typeof member>

/** Queries about groups and their members; every function takes the transaction first. */
export const groupsStore = {
  /** An empty filter takes the way without one, which reads no further than its page. */
  list(tx: Queries, { filter, ...page }: Row<(typeof filteredPage)['params']>) {
    if (filter !== '') return tx.all(filteredPage, { ...page, filter })
    return tx.all(page.offset > nearRowsMax ? farPage : nearPage, page)
  },
  async count(tx: Queries, filter: string): Promise<number> {
    if (filter === '') return totals.of(tx, 'groups')
    return (await tx.get(countFiltered, { filter }))?.total ?? 0
  },
  byId: (tx: Queries, id: number) => tx.get(byId, { id }),
  /** Keeps every other change of the group and its members waiting. */
  lock: (tx: Queries, id: number) => tx.get(lock, { id }),
  /** The id of the new group, or undefined when another has the name. */
  insert: async (tx: Queries, group: Row<(typeof insert)['params']>) =>
    (await tx.get(insert, group))?.id,
  update: (tx: Queries, change: Row<(typeof update)['params']>) => tx.get(update, change),
  delete: (tx: Queries, id: number) => tx.get(remove, { id }),
  members: (tx: Queries, group_id: number) => tx.all(members, { group_id }),
  roleOf: async (tx: Queries, key: MemberKey) => (await tx.get(roleOf, key))?.role,
  hasAnotherSuperadmin: async (tx: Queries, key: MemberKey) =>
    (await tx.get(anotherSuperadmin, key)) !== undefined,
  /** Adds a member, last in the order of joining, and counts it. */
  async addMember(
    tx: Queries,
    joining: Omit<Row<typeof groupMembers.columns>, 'join_order'>,
  ): Promise<void> {
    const counted = await tx.get(countIn, { group_id: joining.group_id })
    if (counted === undefined) throw new Error('a member joins a group that is not there')
    await tx.run(insertMember, { ...joining, join_order: counted.members_joined })
  },
  setRole: (tx: Queries, change: Row<(typeof setRole)['params']>) => tx.run(setRole, change),
  /** Removes a member and counts it out. */
  async removeMember(tx: Queries, key: MemberKey): Promise<void> {
    await tx.run(removeMember, key)
    await tx.run(countOut, { group_id: key.group_id })
  },
  ofUser: (tx: Queries, user_id: string) => tx.all(ofUser, { user_id }),
  summariesOf: (tx: Queries, user_id: string) => tx.all(summariesOf, { user_id }),
}
