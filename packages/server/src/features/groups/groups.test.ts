import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { detailOf, type GroupOperator, membersOf, openGroupOperator } from './groups.fixture.ts'
import { groupsOf } from './groups.service.ts'

const forgetLastJoining = statement({
  name: 'tests.forget-last-joining',
  text: 'UPDATE groups SET members_joined = members_joined - 1 WHERE id = :id',
  params: { id: 'integer' },
})

const readKept = statement({
  name: 'tests.members-kept',
  text: 'SELECT members_kept AS kept FROM groups WHERE id = :id',
  params: { id: 'integer' },
  row: { kept: 'integer' },
})

const conflict = (message: string) => [409, { code: 'conflict', message }]

describe.each(testBackends)('groups on $name', (backend) => {
  let scenario: Scenario
  let operator: GroupOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openGroupOperator(scenario.api)
    return () => scenario.dispose()
  })

  describe('founding', () => {
    it('[H-GRP-2] makes the creator the one member, and a superadmin', async () => {
      const now = scenario.clock.nowUnixMs()
      const answer = await operator.send('POST', '/groups', {
        name: 'red',
        description: 'those in red',
        open: false,
        max_size: 7,
        creator_user_id: 'ada',
      })
      const { id } = detailOf(answer)
      const expected = {
        id,
        name: 'red',
        description: 'those in red',
        open: false,
        max_size: 7,
        member_count: 1,
        created_at_unix_ms: now,
        members: [{ user_id: 'ada', role: 'superadmin', joined_at_unix_ms: now }],
      }
      expect([answer.status, answer.body]).toEqual([201, expected])
      expect((await operator.read(id)).body).toEqual(expected)
      expect(await operator.trailOf(String(id))).toEqual([['groups.create', 'name=red']])
    })

    it('[H-GRP-1] [H-GRP-2] has defaults; the founder is the operator then', async () => {
      for (const request of [
        {},
        { description: null, open: null, max_size: null, creator_user_id: null },
      ]) {
        const group = await operator.make(request)
        expect(group).toMatchObject({ description: '', open: true, max_size: 0, member_count: 1 })
        expect(membersOf(group)).toEqual(['admin:superadmin'])
      }
    })

    it('[H-GRP-2] takes the operator’s username, whatever the role is called', async () => {
      const node = await scenario.openNode({ 'console.username': 'keeper' })
      const keeper = await openOperator(node, { username: 'keeper', password: 'password' })
      const answer = await keeper.send('POST', '/groups', { name: 'kept' })
      expect(membersOf(detailOf(answer))).toEqual(['keeper:superadmin'])
    })

    it('[H-GRP-1] trims name and creator, and stores the description as sent', async () => {
      const request = { name: '\u2003 blue\u00a0', creator_user_id: '\tada\n', description: '  x ' }
      const group = await operator.make(request)
      expect(group).toMatchObject({ name: 'blue', description: '  x ' })
      expect(membersOf(group)).toEqual(['ada:superadmin'])
    })

    it('[H-GRP-1] keeps names unique, byte by byte after trimming', async () => {
      const { id } = await operator.make({ name: 'Caf\u00e9' })
      const before = await operator.list()
      for (const name of ['Caf\u00e9', ' Caf\u00e9 ']) {
        const { status, body } = await operator.send('POST', '/groups', { name })
        expect([status, body]).toEqual(conflict('a group of this name exists'))
      }
      expect(await operator.list()).toEqual(before)
      for (const name of ['caf\u00e9', 'Cafe\u0301', 'Caf\u00e9!']) {
        expect((await operator.make({ name })).name).toBe(name)
      }
      await operator.send('DELETE', `/groups/${id}`)
      expect((await operator.make({ name: 'Caf\u00e9' })).id).toBeGreaterThan(id)
    })

    it('[H-GRP-1] looks at no account', async () => {
      const group = await operator.make({ creator_user_id: 'user-that-never-was' })
      expect((await operator.add(group.id, 'nor this one')).status).toBe(200)
    })
  })

  describe('changing and ending', () => {
    it('[H-GRP-3] changes what is sent, and leaves the rest', async () => {
      const group = await operator.make({ description: 'old', max_size: 3 })
      const put = async (patch: object) =>
        detailOf(await operator.send('PUT', `/groups/${group.id}`, patch))
      expect(await put({ description: '' })).toEqual({ ...group, description: '' })
      expect(await put({ open: false })).toEqual({ ...group, description: '', open: false })
      const all = { description: 'new', open: true, max_size: 0 }
      expect(await put(all)).toEqual({ ...group, ...all })
      expect(await operator.get(group.id)).toEqual({ ...group, ...all })
      const name = `name=${group.name}`
      expect(await operator.trailOf(String(group.id))).toEqual([
        ['groups.create', name],
        ...Array.from({ length: 3 }, () => ['groups.update', name]),
      ])
    })

    it('[H-GRP-3] {} changes nothing and is audited like every success', async () => {
      const group = await operator.make({ description: 'kept', open: false, max_size: 9 })
      for (const patch of [{}, { description: null, open: null, max_size: null }]) {
        const answer = await operator.send('PUT', `/groups/${group.id}`, patch)
        expect([answer.status, answer.body]).toEqual([200, group])
      }
      expect(await operator.trailOf(String(group.id))).toHaveLength(3)
    })

    it('[H-GRP-3] lets max_size fall below member_count; nobody leaves, nobody joins', async () => {
      const group = await operator.makeOf([
        ['a', 'superadmin'],
        ['b', 'member'],
        ['c', 'member'],
      ])
      const answer = await operator.send('PUT', `/groups/${group.id}`, { max_size: 1 })
      expect(answer.body).toEqual({ ...group, max_size: 1 })
      expect((await operator.add(group.id, 'd')).status).toBe(409)
      expect((await operator.send('PUT', `/groups/${group.id}`, { max_size: 4 })).status).toBe(200)
      expect((await operator.add(group.id, 'd')).status).toBe(200)
    })

    it('[H-GRP-3] [O-DOC-1] knows how many members were there when max_size was set', async () => {
      const { id } = await operator.makeOf([
        ['a', 'superadmin'],
        ['b', 'member'],
        ['c', 'member'],
      ])
      const kept = async () => (await scenario.db.get(readKept, { id }))?.kept
      expect(await kept()).toBe(0)
      await operator.send('PUT', `/groups/${id}`, { max_size: 1 })
      expect(await kept()).toBe(3)
      await operator.move(id, 'c', 'kick')
      expect(await kept()).toBe(2)
      await operator.send('PUT', `/groups/${id}`, { max_size: 5 })
      await operator.add(id, 'd')
      await operator.add(id, 'e')
      await operator.move(id, 'e', 'kick')
      expect(await kept()).toBe(2)
      await operator.send('PUT', `/groups/${id}`, { description: 'the size stays' })
      expect(await kept()).toBe(2)
    })

    it('[H-GRP-6] DELETE removes the members too', async () => {
      const group = await operator.makeOf([
        ['leader', 'superadmin'],
        ['follower', 'member'],
      ])
      const { total } = await operator.list()
      const answer = await operator.send('DELETE', `/groups/${group.id}`)
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect((await operator.read(group.id)).status).toBe(404)
      expect((await operator.list()).total).toBe(total - 1)
      expect(await scenario.rowsOf('group_members', `group_id = ${group.id}`)).toEqual([])
      expect((await operator.send('DELETE', `/groups/${group.id}`)).status).toBe(404)
      const name = `name=${group.name}`
      expect(await operator.trailOf(String(group.id))).toEqual([
        ['groups.create', name],
        ['groups.delete', name],
      ])
    })
  })

  describe('members', () => {
    it('[H-GRP-4] join last, as members, and are counted', async () => {
      const group = await operator.make({ creator_user_id: 'z' })
      await scenario.clock.advance(5)
      const joined_at_unix_ms = scenario.clock.nowUnixMs()
      const first = detailOf(await operator.add(group.id, 'y'))
      expect(first.members.at(-1)).toEqual({ user_id: 'y', role: 'member', joined_at_unix_ms })
      const second = detailOf(await operator.add(group.id, 'a'))
      expect(membersOf(second)).toEqual(['z:superadmin', 'y:member', 'a:member'])
      expect(second.member_count).toBe(3)
      const counted = (await operator.list('?limit=200')).items.find(({ id }) => id === group.id)
      expect(counted?.member_count).toBe(3)
      expect(await operator.trailOf(`${group.id}/y`)).toEqual([
        ['groups.member.add', 'role=member'],
      ])
    })

    it('[H-GRP-4] who was kicked and joins again is last', async () => {
      const { id } = await operator.makeOf([
        ['a', 'superadmin'],
        ['b', 'admin'],
        ['c', 'member'],
      ])
      expect(membersOf(detailOf(await operator.move(id, 'b', 'kick')))).toEqual([
        'a:superadmin',
        'c:member',
      ])
      const again = detailOf(await operator.add(id, 'b'))
      expect(membersOf(again)).toEqual(['a:superadmin', 'c:member', 'b:member'])
      expect(again.member_count).toBe(3)
    })

    it('[H-GRP-4] are refused when they are in already, then when the group is full', async () => {
      const { id } = await operator.makeOf([
        ['a', 'superadmin'],
        ['b', 'member'],
      ])
      await operator.send('PUT', `/groups/${id}`, { max_size: 2 })
      const full = await operator.add(id, 'c')
      expect([full.status, full.body]).toEqual(conflict('the group is full'))
      const present = await operator.add(id, 'b')
      expect([present.status, present.body]).toEqual(conflict('already a member'))
      expect((await operator.get(id)).member_count).toBe(2)
      expect(await operator.trailOf(`${id}/c`)).toEqual([])
      await operator.move(id, 'b', 'kick')
      expect((await operator.add(id, 'c')).status).toBe(200)
    })

    it('[H-GRP-2] max_size is not held against the founder', async () => {
      const { id } = await operator.make({ max_size: 1 })
      expect((await operator.add(id, 'second')).status).toBe(409)
    })

    it('[H-GRP-5] climb the ladder rung by rung, and down again', async () => {
      const { id } = await operator.makeOf([
        ['boss', 'superadmin'],
        ['ada', 'member'],
      ])
      const roleAfter = async (move: 'promote' | 'demote') => {
        const answer = await operator.move(id, 'ada', move)
        return answer.status === 200 ? membersOf(detailOf(answer)).at(-1) : answer.body
      }
      expect(await roleAfter('demote')).toEqual(conflict('already member')[1])
      expect(await roleAfter('promote')).toBe('ada:admin')
      expect(await roleAfter('promote')).toBe('ada:superadmin')
      expect(await roleAfter('promote')).toEqual(conflict('already superadmin')[1])
      expect(await roleAfter('demote')).toBe('ada:admin')
      expect(await roleAfter('demote')).toBe('ada:member')
      expect(await operator.trailOf(`${id}/ada`)).toEqual([
        ['groups.member.add', 'role=member'],
        ['groups.member.promote', 'role=admin'],
        ['groups.member.promote', 'role=superadmin'],
        ['groups.member.demote', 'role=admin'],
        ['groups.member.demote', 'role=member'],
      ])
    })

    it('[H-GRP-5] change in the one group, and in no other that they are in', async () => {
      const members = [['ada', 'superadmin'] as const, ['bo', 'member'] as const]
      const [one, other] = [await operator.makeOf(members), await operator.makeOf(members)]
      await operator.move(one.id, 'bo', 'promote')
      expect(membersOf(await operator.get(one.id))).toEqual(['ada:superadmin', 'bo:admin'])
      expect(await operator.get(other.id)).toEqual(other)
      await operator.move(one.id, 'bo', 'kick')
      expect(membersOf(await operator.get(one.id))).toEqual(['ada:superadmin'])
      expect(await operator.get(other.id)).toEqual(other)
    })

    it('[H-GRP-5] [H-GRP-6] leave by a kick, except for the last superadmin', async () => {
      const { id } = await operator.makeOf([
        ['boss', 'superadmin'],
        ['ada', 'admin'],
      ])
      for (const move of ['demote', 'kick'] as const) {
        const refused = await operator.move(id, 'boss', move)
        expect([refused.status, refused.body]).toEqual(conflict('last superadmin'))
      }
      const before = await operator.trailOf(`${id}/boss`)
      expect(before).toEqual([])
      await operator.move(id, 'ada', 'promote')
      const left = detailOf(await operator.move(id, 'boss', 'kick'))
      expect([membersOf(left), left.member_count]).toEqual([['ada:superadmin'], 1])
      expect(await operator.trailOf(`${id}/boss`)).toEqual([['groups.member.kick', 'kicked']])
      expect((await operator.move(id, 'ada', 'demote')).status).toBe(409)
      expect(membersOf(await operator.get(id))).toEqual(['ada:superadmin'])
    })

    it('[H-GRP-5] are looked for by their exact id, after the group', async () => {
      const { id } = await operator.make({ creator_user_id: 'Ada/Lovelace %' })
      for (const move of ['promote', 'demote', 'kick'] as const) {
        for (const stranger of ['ada/lovelace %', 'Ada/Lovelace', 'Ada']) {
          expect((await operator.move(id, stranger, move)).status).toBe(404)
        }
        expect((await operator.move(id + 1_000_000, 'Ada/Lovelace %', move)).status).toBe(404)
      }
      expect((await operator.move(id, 'Ada/Lovelace %', 'kick')).status).toBe(409)
      expect((await operator.add(id + 1_000_000, 'x')).status).toBe(404)
    })

    it('[H-ACC-9] a user’s groups are listed by id, with role and time', async () => {
      const joined_at_unix_ms = scenario.clock.nowUnixMs()
      const founded = await operator.make({ creator_user_id: 'wanderer' })
      const joined = await operator.make()
      await operator.make()
      await operator.add(joined.id, 'wanderer')
      const seen = await scenario.db.transaction((tx) => groupsOf(tx, 'wanderer'))
      expect(seen).toEqual([
        { id: founded.id, name: founded.name, role: 'superadmin', joined_at_unix_ms },
        { id: joined.id, name: joined.name, role: 'member', joined_at_unix_ms },
      ])
      expect(await groupsOf(scenario.db, 'nobody')).toEqual([])
    })
  })
})

describe.each(testBackends)('what groups leave behind on $name', (backend) => {
  let scenario: Scenario
  let operator: GroupOperator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openGroupOperator(scenario.api)
    return () => scenario.dispose()
  })

  it.runIf(backend.name !== 'in-memory')(
    '[O-ID-1] [H-ID-1] ids survive the newest group and a restart, as everything else does',
    async () => {
      const first = await operator.makeOf([
        ['a', 'superadmin'],
        ['b', 'admin'],
      ])
      expect(first.id).toBe(1)
      const newest = await operator.make()
      await operator.send('DELETE', `/groups/${newest.id}`)
      await scenario.restart()
      const later = await openGroupOperator(scenario.api)
      expect((await later.list()).total).toBe(1)
      expect(await later.get(first.id)).toEqual(first)
      expect((await later.make()).id).toBeGreaterThan(newest.id)
    },
  )

  it('[O-TX-1] a change that fails half-way leaves nothing', async () => {
    const { id } = await operator.makeOf([
      ['a', 'superadmin'],
      ['b', 'member'],
    ])
    // The next place in the order of joining is taken already, so the insert must fail.
    await scenario.db.run(forgetLastJoining, { id })
    expect((await operator.add(id, 'c')).status).toBe(500)
    const [row] = await scenario.rowsOf('groups')
    expect([row?.member_count, row?.members_joined]).toEqual([2n, 1n])
    expect(membersOf(await operator.get(id))).toEqual(['a:superadmin', 'b:member'])
    expect(await operator.trailOf(`${id}/c`)).toEqual([])
  })
})
