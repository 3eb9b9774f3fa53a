import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { ApiAnswer } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { detailOf, type GroupOperator, membersOf, openGroupOperator } from './groups.fixture.ts'
import type { Move } from './groups.states.ts'

const statusesOf = (answers: readonly ApiAnswer[]) => answers.map(({ status }) => status).sort()

describe.each(testBackends)('groups under many hands on $name', (backend) => {
  let scenario: Scenario
  /** The admin at two nodes. */
  let operators: [GroupOperator, GroupOperator]
  beforeAll(async () => {
    scenario = await openScenario(backend)
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    operators = [await openGroupOperator(scenario.api), await openGroupOperator(other)]
    return () => scenario.dispose()
  })
  const operatorOf = (index: number) => operators[index % 2 === 0 ? 0 : 1]

  async function expectSound(id: number) {
    const detail = await operatorOf(0).get(id)
    const [row] = await scenario.rowsOf('groups', `id = ${id}`)
    const rows = await scenario.rowsOf('group_members', `group_id = ${id}`)
    expect(Number(row?.member_count)).toBe(rows.length)
    expect(detail.member_count).toBe(rows.length)
    expect(rows.map(({ role }) => role)).toContain('superadmin')
    return detail
  }

  it('[H-GRP-4] a group fills up to max_size exactly', async () => {
    const { id } = await operatorOf(0).make({ max_size: 6, creator_user_id: 'founder' })
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => operatorOf(index).add(id, `user-${index}`)),
    )
    expect(statusesOf(answers)).toEqual([...Array(5).fill(200), ...Array(19).fill(409)])
    expect((await expectSound(id)).member_count).toBe(6)
    const counts = answers
      .filter(({ status }) => status === 200)
      .map((answer) => detailOf(answer).member_count)
    expect(counts.sort()).toEqual([2, 3, 4, 5, 6])
  })

  it('[H-GRP-4] [O-TX-5] one user joins once, and nobody is refused for meeting others', async () => {
    const { id } = await operatorOf(0).make()
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, (_, index) => operatorOf(index).add(id, 'twin')),
      ...Array.from({ length: 20 }, (_, index) => operatorOf(index).add(id, `other-${index}`)),
    ])
    expect(statusesOf(answers.slice(0, 8))).toEqual([200, ...Array(7).fill(409)])
    expect(statusesOf(answers.slice(8))).toEqual(Array(20).fill(200))
    expect((await expectSound(id)).member_count).toBe(22)
    const trails = await Promise.all(operators.map((operator) => operator.trailOf(`${id}/twin`)))
    // In memory each node reports its own doings only.
    const seen = backend.name === 'in-memory' ? trails.flat() : trails[0]
    expect(seen).toEqual([['groups.member.add', 'role=member']])
  })

  it.each([
    ['two demotions', ['demote', 'demote']],
    ['two kicks', ['kick', 'kick']],
    ['a demotion and a kick', ['demote', 'kick']],
  ] as const)('[H-GRP-5] %s never take the last superadmin', async (_case, [one, two]) => {
    for (let round = 0; round < 4; round += 1) {
      const { id } = await operatorOf(0).makeOf([
        ['a', 'superadmin'],
        ['b', 'superadmin'],
      ])
      const answers = await Promise.all([
        operatorOf(0).move(id, 'a', one),
        operatorOf(1).move(id, 'b', two),
      ])
      expect(statusesOf(answers)).toEqual([200, 409])
      const superadmins = membersOf(await expectSound(id)).filter((each) => /:super/.test(each))
      expect(superadmins).toHaveLength(1)
    }
  })

  it('[H-GRP-5] ten superadmins who all demote themselves at once leave one', async () => {
    const users = Array.from({ length: 10 }, (_, index) => [`u${index}`, 'superadmin'] as const)
    const { id } = await operatorOf(0).makeOf(users)
    const answers = await Promise.all(
      users.map(([user_id], index) => operatorOf(index).move(id, user_id, 'demote')),
    )
    expect(statusesOf(answers)).toEqual([...Array(9).fill(200), 409])
    await expectSound(id)
  })

  it('[H-GRP-1] one of many groups of a name is founded', async () => {
    const { total } = await operatorOf(0).list()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        operatorOf(index).send('POST', '/groups', { name: 'the only one' }),
      ),
    )
    expect(statusesOf(answers)).toEqual([201, ...Array(11).fill(409)])
    expect((await operatorOf(1).list()).total).toBe(total + 1)
  })

  it('[H-GRP-6] a group that ends while others join ends whole', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { id } = await operatorOf(0).make()
      const joins = Array.from({ length: 6 }, (_, index) => operatorOf(index).add(id, `u${index}`))
      const [ended, ...joined] = await Promise.all([
        operatorOf(round).send('DELETE', `/groups/${id}`),
        ...joins,
      ])
      expect(ended?.status).toBe(204)
      for (const { status } of joined) expect([200, 404]).toContain(status)
      expect(await scenario.rowsOf('group_members', `group_id = ${id}`)).toEqual([])
      expect((await operatorOf(0).read(id)).status).toBe(404)
    }
  })

  it('[H-GRP-4] [H-GRP-5] whatever is done at once, the count is right and somebody leads', async () => {
    const deed = fc.record({
      user: fc.constantFrom('a', 'b', 'c'),
      what: fc.constantFrom<Move | 'add'>('add', 'promote', 'demote', 'kick'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 16 }), async (deeds) => {
        const { id } = await operatorOf(0).makeOf([
          ['a', 'superadmin'],
          ['b', 'superadmin'],
        ])
        const answers = await Promise.all(
          deeds.map(({ user, what }, index) =>
            what === 'add'
              ? operatorOf(index).add(id, user)
              : operatorOf(index).move(id, user, what),
          ),
        )
        for (const { status } of answers) expect([200, 404, 409]).toContain(status)
        await expectSound(id)
      }),
      { numRuns: 10 },
    )
  })
})

/** A group, seen in a few lines. */
class Model {
  readonly members = new Map<string, number>([['a', 2]])
  readonly maxSize: number

  constructor(maxSize: number) {
    this.maxSize = maxSize
  }

  add(user: string): number {
    if (this.members.has(user)) return 409
    if (this.maxSize > 0 && this.members.size >= this.maxSize) return 409
    this.members.set(user, 0)
    return 200
  }

  move(user: string, move: Move): number {
    const rung = this.members.get(user)
    if (rung === undefined) return 404
    const isLast = [...this.members.values()].filter((each) => each === 2).length === 1
    if (move !== 'promote' && rung === 2 && isLast) return 409
    if (move === 'kick') this.members.delete(user)
    else {
      const next = rung + (move === 'promote' ? 1 : -1)
      if (next < 0 || next > 2) return 409
      this.members.set(user, next)
    }
    return 200
  }

  get shown(): string[] {
    const roles = ['member', 'admin', 'superadmin']
    return [...this.members].map(([user, rung]) => `${user}:${roles[rung]}`)
  }
}

describe.each(testBackends)('a group beside its model on $name', (backend) => {
  let scenario: Scenario
  let operator: GroupOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openGroupOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-GRP-2] [H-GRP-4] [H-GRP-5] answers and shows the same after every request', async () => {
    const deed = fc.record({
      user: fc.constantFrom('a', 'b', 'c', 'd'),
      what: fc.constantFrom<Move | 'add'>('add', 'add', 'promote', 'promote', 'demote', 'kick'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 24 }), fc.nat(3), async (deeds, maxSize) => {
        const model = new Model(maxSize)
        const { id } = await operator.make({ creator_user_id: 'a', max_size: maxSize })
        for (const { user, what } of deeds) {
          const expected = what === 'add' ? model.add(user) : model.move(user, what)
          const answer = await (what === 'add'
            ? operator.add(id, user)
            : operator.move(id, user, what))
          expect(answer.status).toBe(expected)
          if (expected === 200) expect(membersOf(detailOf(answer))).toEqual(model.shown)
        }
        const group = await operator.get(id)
        expect(membersOf(group)).toEqual(model.shown)
        expect(group.member_count).toBe(model.members.size)
      }),
      { numRuns: 12 },
    )
  })
})
