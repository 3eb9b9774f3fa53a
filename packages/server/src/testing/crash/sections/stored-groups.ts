import type { GroupRole } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectSame, expectThat } from '../operation.ts'

/** A group as the model has it. */
export type Group = {
  id: number
  name: string
  max_size: number
  members: Map<string, GroupRole>
  /** Members that something is being done to. */
  busy: Set<string>
  /** Its end is under way. */
  ending: boolean
}

/** What the store says of groups and their members. */
export function createStoredGroups() {
  let groups: StoredGroup[] = []
  let members: StoredMember[] = []
  return {
    ids: () => groups.map(({ id }) => id),
    byName: (name: string) => groups.find((group) => group.name === name),
    membersOf(id: number): Map<string, string> {
      const own = members.filter(({ group_id }) => group_id === id)
      return new Map(own.map(({ user_id, role }) => [user_id, role]))
    },
    async read(state: Queries): Promise<void> {
      groups = await state.all(groupRows, {})
      members = await state.all(memberRows, {})
    },
  }
}

/** Throws when a group is not what the model says, or breaks a rule of its own. */
export function checkGroup(group: Group, stored: ReturnType<typeof createStoredGroups>): void {
  const { id, name, max_size, members } = group
  const row = stored.byName(name)
  expectSame(row, { id, name, max_size, member_count: members.size }, `the group ${name}`)
  const inStore = stored.membersOf(id)
  expectSame([...inStore].sort(), [...members].sort(), `the members of ${name}`)
  const superadmins = [...inStore.values()].filter((role) => role === 'superadmin')
  expectThat(superadmins.length > 0, `${name} has no superadmin`)
  expectThat(max_size === 0 || inStore.size <= max_size, `${name} has too many members`)
}

type StoredGroup = Pick<Group, 'id' | 'name' | 'max_size'> & { member_count: number }
type StoredMember = { group_id: number; user_id: string; role: string }

const groupRows = statement({
  name: 'crash.groups',
  text: 'SELECT id, name, max_size, member_count FROM groups',
  row: { id: 'integer', name: 'text', max_size: 'integer', member_count: 'integer' },
})

const memberRows = statement({
  name: 'crash.members',
  text: 'SELECT group_id, user_id, role FROM group_members ORDER BY group_id, join_order',
  row: { group_id: 'integer', user_id: 'text', role: 'text' },
})
