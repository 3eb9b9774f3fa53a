import type { GroupDetail } from '@guildhall/contract'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { totals } from '../../database/writes/totals.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Done, Mutate, Mutation } from '../../kernel/mutation.ts'
import { type Move, needsAnotherSuperadmin, step } from './groups.states.ts'
import { groupsStore } from './groups.store.ts'

export type GroupsDeps = { db: Database; clock: Clock; mutate: Mutate<Transaction> }

export type NewGroup = {
  name: string
  description?: string | undefined
  open?: boolean | undefined
  max_size?: number | undefined
  creator_user_id: string
}

export type GroupPatch = {
  description?: string | undefined
  open?: boolean | undefined
  max_size?: number | undefined
}

export type GroupQuery = { filter?: string | undefined; limit: number; offset: number }

export type Groups = ReturnType<typeof createGroups>

/**
 * Groups and their members. Every change of a group's members first locks the group's row, so the
 * changes of one group happen one after another on all nodes: that is what keeps a full group full
 * and the last superadmin in place.
 */
export function createGroups({ db, clock, mutate }: GroupsDeps) {
  const rules = createRules(clock)
  const change = <T>(mutation: Mutation, work: (tx: Transaction) => Promise<Done<T>>) =>
    mutate(mutation, work, { isolation: 'read committed' })

  return {
    async list({ filter = '', ...page }: GroupQuery) {
      const [items, total] = await Promise.all([
        groupsStore.list(db, { ...page, filter }),
        groupsStore.count(db, filter),
      ])
      return { items, total }
    },
    get: (id: number) => detailOf(db, id),
    /** The groups that a user is in, by id. */
    ofUser: (userId: string) => groupsStore.summariesOf(db, userId),
    create: (mutation: Mutation, group: NewGroup) =>
      change(mutation, (tx) => rules.create(tx, group)),
    update: (mutation: Mutation, id: number, patch: GroupPatch) =>
      change(mutation, (tx) => rules.update(tx, id, patch)),
    delete: (mutation: Mutation, id: number) => change(mutation, (tx) => rules.remove(tx, id)),
    addMember: (mutation: Mutation, key: MemberKey) =>
      change(mutation, (tx) => rules.addMember(tx, key)),
    move: (mutation: Mutation, key: MemberKey, move: Move) =>
      change(mutation, (tx) => rules.move(tx, key, move)),
  }
}

type MemberKey = { id: number; user_id: string }

/** The changes themselves, within whatever transaction carries them. */
function createRules(clock: Clock) {
  return {
    async create(tx: Transaction, group: NewGroup): Promise<Done<GroupDetail>> {
      const { name, description = '', open = true, max_size = 0, creator_user_id } = group
      const now = clock.nowUnixMs()
      const row = { name, description, open, max_size, created_at_unix_ms: now }
      const id = await groupsStore.insert(tx, row)
      if (id === undefined) throw refuse.conflict('a group of this name exists')
      await groupsStore.addMember(tx, {
        group_id: id,
        user_id: creator_user_id,
        role: 'superadmin',
        joined_at_unix_ms: now,
      })
      await totals.grow(tx, 'groups')
      return { answer: await detailOf(tx, id), target: String(id), details: `name=${name}` }
    },

    async update(tx: Transaction, id: number, patch: GroupPatch): Promise<Done<GroupDetail>> {
      const { description = null, open = null, max_size = null } = patch
      const row = await groupsStore.update(tx, { id, description, open, max_size })
      if (row === undefined) throw unknownGroup()
      return { answer: await detailOf(tx, id), target: String(id), details: `name=${row.name}` }
    },

    async remove(tx: Transaction, id: number): Promise<Done<undefined>> {
      const row = await groupsStore.delete(tx, id)
      if (row === undefined) throw unknownGroup()
      await totals.shrink(tx, 'groups')
      return { answer: undefined, target: String(id), details: `name=${row.name}` }
    },

    async addMember(tx: Transaction, { id, user_id }: MemberKey): Promise<Done<GroupDetail>> {
      const group = await groupsStore.lock(tx, id)
      if (group === undefined) throw unknownGroup()
      const key = { group_id: id, user_id }
      if ((await groupsStore.roleOf(tx, key)) !== undefined) {
        throw refuse.conflict('already a member')
      }
      if (group.max_size > 0 && group.member_count >= group.max_size) {
        throw refuse.conflict('the group is full')
      }
      await groupsStore.addMember(tx, {
        ...key,
        role: 'member',
        joined_at_unix_ms: clock.nowUnixMs(),
      })
      const answer = await detailOf(tx, id)
      return { answer, target: `${id}/${user_id}`, details: 'role=member' }
    },

    async move(tx: Transaction, member: MemberKey, move: Move): Promise<Done<GroupDetail>> {
      const { id, user_id } = member
      if ((await groupsStore.lock(tx, id)) === undefined) throw unknownGroup()
      const key = { group_id: id, user_id }
      const role = await groupsStore.roleOf(tx, key)
      if (role === undefined) throw refuse.notFound('not a member of the group')
      const isLastSuperadmin =
        needsAnotherSuperadmin(role, move) && !(await groupsStore.hasAnotherSuperadmin(tx, key))
      const outcome = step({ role, isLastSuperadmin }, move)
      if ('refused' in outcome) throw refuse.conflict(outcome.refused)
      const { to } = outcome
      if (to === 'gone') await groupsStore.removeMember(tx, key)
      else await groupsStore.setRole(tx, { ...key, role: to })
      const details = to === 'gone' ? 'kicked' : `role=${to}`
      return { answer: await detailOf(tx, id), target: `${id}/${user_id}`, details }
    },
  }
}

/** The groups that a user is in, by id. */
export function groupsOf(tx: Queries, userId: string) {
  return groupsStore.ofUser(tx, userId)
}

/**
 * A group with its members. The two are read one after the other, so the members are what is
 * counted: an answer never reports more or fewer members than it shows.
 */
async function detailOf(tx: Queries, id: number): Promise<GroupDetail> {
  const [group, members] = await Promise.all([
    groupsStore.byId(tx, id),
    groupsStore.members(tx, id),
  ])
  // Every group has a superadmin: one without members ended between the two.
  if (group === undefined || members.length === 0) throw unknownGroup()
  return { ...group, member_count: members.length, members }
}

function unknownGroup() {
  return refuse.notFound('no such group')
}
