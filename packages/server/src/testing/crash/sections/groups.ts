import { GroupDetail, type GroupRole } from '@guildhall/contract'
import type { ApiAnswer } from '../../api.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import { createSerials } from './serials.ts'
import { checkGroup, createStoredGroups, type Group } from './stored-groups.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string }

const groupsMax = 12
const sizes = [0, 3, 6]

/**
 * Groups: changes of different members at the same time, at most one of each member; the end of a
 * group comes alone.
 */
export function createGroupsSection(deps: Deps): Section {
  const { random } = deps
  const groups = new Map<number, Group>()
  const serials = createSerials('the group id')
  const stored = createStoredGroups()
  const operations = createOperations(deps, { groups, serials, stored })

  function next(): Operation | undefined {
    if (groups.size < 3 || (groups.size < groupsMax && random.chance(0.1))) {
      return operations.create(random.pick(sizes) ?? 0)
    }
    const group = random.pick([...groups.values()].filter(({ ending }) => !ending))
    if (group === undefined) return undefined
    if (group.busy.size === 0 && random.chance(0.05)) return operations.delete(group)
    if (random.chance(0.35)) return operations.add(group)
    const member = random.pick([...group.members.keys()].filter((id) => !group.busy.has(id)))
    if (member === undefined) return undefined
    const move = random.pick(['promote', 'promote', 'demote', 'kick'] as const) ?? 'promote'
    const role = group.members.get(member) ?? 'member'
    return after[move][role] === undefined ? undefined : operations.move(group, member, move)
  }

  return {
    weight: 6,
    next,
    read: stored.read,
    check() {
      expectSame([...stored.ids()].sort(), [...groups.keys()].sort(), 'the groups')
      for (const group of groups.values()) checkGroup(group, stored)
      serials.restarted()
    },
  }
}

type Move = 'promote' | 'demote' | 'kick'

/** Where a move takes a member; the model knows the ladder by itself. */
const after: Record<Move, Partial<Record<GroupRole, GroupRole | 'gone'>>> = {
  promote: { member: 'admin', admin: 'superadmin' },
  demote: { admin: 'member', superadmin: 'admin' },
  kick: { member: 'gone', admin: 'gone', superadmin: 'gone' },
}

type Model = {
  groups: Map<number, Group>
  serials: ReturnType<typeof createSerials>
  stored: ReturnType<typeof createStoredGroups>
}

function createOperations({ trail, mark }: Deps, { groups, serials, stored }: Model) {
  /** A change of one member, during which nothing else is done to that member. */
  function ofMember(
    group: Group,
    user_id: string,
    declared: { path: string; body?: object; to: GroupRole | 'gone'; refusals: number[] },
  ): Operation {
    const { path, body, to, refusals } = declared
    const held = (members: ReadonlyMap<string, string>) => members.get(user_id) ?? 'gone'
    group.busy.add(user_id)
    return operation<object>({
      request: { method: 'POST', path: `/console/v1/groups/${group.id}/members${path}`, body },
      heard(answer) {
        if (!succeeded(answer, 200, refusals)) return undefined
        expectSame(held(membersOf(answer)), to, `the role of ${user_id} after a change of it`)
        return {}
      },
      found: () => (held(stored.membersOf(group.id)) === to ? {} : undefined),
      apply() {
        if (to === 'gone') group.members.delete(user_id)
        else group.members.set(user_id, to)
        const [, , verb = 'add'] = path.split('/')
        const details = to === 'gone' ? 'kicked' : `role=${to}`
        const action = `groups.member.${verb}` as Entry['action']
        trail.expect({ action, target: `${group.id}/${user_id}`, details })
      },
      release: () => void group.busy.delete(user_id),
    })
  }

  return {
    create(max_size: number): Operation {
      const name = mark('group')
      const founder = mark('founder')
      return operation<{ id: number }>({
        request: {
          method: 'POST',
          path: '/console/v1/groups',
          body: { name, max_size, creator_user_id: founder },
        },
        heard: (answer) => (succeeded(answer, 201) ? GroupDetail().parse(answer.body) : undefined),
        found: () => stored.byName(name),
        apply({ id }) {
          serials.note(id, name)
          const members = new Map<string, GroupRole>([[founder, 'superadmin']])
          groups.set(id, { id, name, max_size, members, busy: new Set(), ending: false })
          trail.expect({ action: 'groups.create', target: `${id}`, details: `name=${name}` })
        },
      })
    },

    add(group: Group): Operation {
      const user_id = mark('member')
      const refusals = group.max_size > 0 ? [409] : []
      return ofMember(group, user_id, { path: '', body: { user_id }, to: 'member', refusals })
    },

    move(group: Group, user_id: string, move: Move): Operation {
      const role = group.members.get(user_id) ?? 'member'
      // The last superadmin stays, and who that is depends on what else is under way.
      const refusals = role === 'superadmin' ? [409] : []
      const path = `/${user_id}/${move}`
      return ofMember(group, user_id, { path, to: after[move][role] ?? role, refusals })
    },

    delete(group: Group): Operation {
      group.ending = true
      return operation<object>({
        request: { method: 'DELETE', path: `/console/v1/groups/${group.id}` },
        heard: (answer) => (succeeded(answer, 204) ? {} : undefined),
        found: () => (stored.byName(group.name) === undefined ? {} : undefined),
        apply() {
          groups.delete(group.id)
          const { id, name } = group
          trail.expect({ action: 'groups.delete', target: `${id}`, details: `name=${name}` })
        },
        release() {
          group.ending = false
        },
      })
    },
  }
}

function membersOf(answer: ApiAnswer): Map<string, string> {
  const { members } = GroupDetail().parse(answer.body)
  return new Map(members.map(({ user_id, role }) => [user_id, role]))
}
