import { friendsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Transaction } from '../../database/database.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { bySystem, type Mutate } from '../../kernel/mutation.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createFriends } from './friends.service.ts'

describe.each(testBackends)('friends at the console on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  const add = (id: string, user_id: unknown, headers?: Record<string, string>) =>
    operator.send('POST', `/accounts/${id}/friends`, { user_id }, headers)
  const remove = (id: string, other: string, headers?: Record<string, string>) =>
    operator.send('DELETE', `/accounts/${id}/friends/${other}`, undefined, headers)
  const read = (id: string) => operator.send('GET', `/accounts/${id}/friends`)
  const list = async (id: string) => friendsApi.list.ok.parse((await read(id)).body)
  const trailOf = (id: string) => operator.trailOf(`account ${id}`)
  const idsOf = async (count: number) => {
    const players = await Promise.all(Array.from({ length: count }, () => scenario.signUp()))
    return players.map(({ user_id }) => user_id).sort() as [string, string, string]
  }
  const everything = async () => [
    await scenario.rowsOf('friend_edges'),
    (await operator.send('GET', '/audit?limit=500&action=accounts.')).body,
  ]
  /** The service alone, for what no route reaches. */
  const block = (user_id: string, other_id: string) => {
    const unused = () => Promise.reject(new Error('not asked here'))
    const { db, clock } = scenario
    const mutate: Mutate<Transaction> = async (_, change, options) =>
      (await db.transaction(change, options)).answer
    const { block } = createFriends({ db, clock, mutate, accountExists: unused })
    return block(bySystem, { user_id, other_id })
  }

  it('[H-FRD-1] [H-FRD-3] [H-FRD-5] invites, and makes friends when the other side adds too', async () => {
    const [ada, bob, eve] = await idsOf(3)
    const first = scenario.clock.nowUnixMs()
    await add(ada, eve)
    await scenario.clock.advance(100)
    const invited = await add(ada, bob)
    expect([invited.status, invited.body]).toEqual([
      200,
      [
        { user_id: bob, state: 'invited_sent', updated_unix_ms: first + 100 },
        { user_id: eve, state: 'invited_sent', updated_unix_ms: first },
      ],
    ])
    const received = { user_id: ada, state: 'invited_received', updated_unix_ms: first + 100 }
    expect((await read(bob)).body).toEqual([received])
    await scenario.clock.advance(100)
    const accepted = await add(bob, ada)
    const friends = { state: 'friend', updated_unix_ms: first + 200 }
    expect([accepted.status, accepted.body]).toEqual([200, [{ user_id: ada, ...friends }]])
    expect((await list(ada))[0]).toEqual({ user_id: bob, ...friends })
    expect(await trailOf(ada)).toEqual([
      ['accounts.friends.add', `other=${eve} state=invited_sent`],
      ['accounts.friends.add', `other=${bob} state=invited_sent`],
    ])
    expect(await trailOf(bob)).toEqual([['accounts.friends.add', `other=${ada} state=friend`]])
  })

  it('[H-FRD-3] moves only the times of both sides when nothing else is to change', async () => {
    const [ada, bob] = await idsOf(2)
    for (const [state, reverse, actor] of [
      ['invited_sent', 'invited_received', ada],
      ['friend', 'friend', bob],
    ] as const) {
      const other = actor === ada ? bob : ada
      await add(actor, other)
      await scenario.clock.advance(100)
      const updated_unix_ms = scenario.clock.nowUnixMs()
      await add(actor, other)
      expect(await list(actor)).toEqual([{ user_id: other, state, updated_unix_ms }])
      expect(await list(other)).toEqual([{ user_id: actor, state: reverse, updated_unix_ms }])
    }
  })

  it('[H-FRD-4] [H-FRD-5] removes both sides, minds nothing, and is audited each time', async () => {
    const [ada, bob] = await idsOf(2)
    await add(ada, bob)
    await add(bob, ada)
    const answer = await remove(bob, ada)
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect([await list(ada), await list(bob)]).toEqual([[], []])
    expect((await remove(bob, ada)).status).toBe(204)
    expect((await remove('nobody', 'no-one')).status).toBe(204)
    expect((await remove(ada, 'no-one')).status).toBe(204)
    const action = 'accounts.friends.remove'
    expect((await trailOf(bob)).slice(1)).toEqual([
      [action, `other=${ada} removed=true`],
      [action, `other=${ada} removed=false`],
    ])
    expect(await trailOf('nobody')).toEqual([[action, 'other=no-one removed=false']])
    expect((await trailOf(ada)).slice(1)).toEqual([[action, 'other=no-one removed=false']])
  })

  it('[H-FRD-2] adds nobody whom, or who, a block keeps away, until it is lifted', async () => {
    const [ada, bob] = await idsOf(2)
    await add(ada, bob)
    await add(bob, ada)
    await scenario.clock.advance(100)
    await block(ada, bob)
    const updated_unix_ms = scenario.clock.nowUnixMs()
    expect(await list(ada)).toEqual([{ user_id: bob, state: 'blocked', updated_unix_ms }])
    expect(await list(bob)).toEqual([])
    const before = await everything()
    for (const answer of [await add(ada, bob), await add(bob, ada)]) {
      expect([answer.status, answer.body]).toEqual([
        409,
        { code: 'conflict', message: 'one of the two has blocked the other' },
      ])
    }
    expect(await everything()).toEqual(before)
    await block(bob, ada)
    expect((await list(ada)).concat(await list(bob)).map(({ state }) => state)).toEqual([
      'blocked',
      'blocked',
    ])
    await remove(bob, ada)
    expect((await add(bob, ada)).status).toBe(200)
    await expect(block(ada, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    await expect(block(ada, ada)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('[H-FRD-2] judges a pair by its own two relations, whatever either has with others', async () => {
    const [ada, bob, cid] = await idsOf(3)
    for (const [one, other] of [
      [ada, cid],
      [cid, ada],
    ] as const) {
      await block(one, bob)
      expect((await add(one, other)).status).toBe(200)
    }
    expect(await list(ada)).toMatchObject([
      { user_id: bob, state: 'blocked' },
      { user_id: cid, state: 'friend' },
    ])
  })

  it.each(['disabled', 'tombstoned'] as const)('[H-ACC-7] works when %s', async (state) => {
    const [ada, bob] = await idsOf(2)
    await scenario.setState(ada, state)
    await scenario.setState(bob, state)
    expect((await add(ada, bob)).status).toBe(200)
    expect((await add(bob, ada)).status).toBe(200)
    expect(await list(ada)).toMatchObject([{ state: 'friend' }])
    expect((await remove(ada, bob)).status).toBe(204)
  })

  it('[H-FRD-2] refuses in its order: 400, the actor’s 404, the other’s 404', async () => {
    const [ada, bob] = await idsOf(2)
    const before = await everything()
    for (const [id, other, status] of [
      [ada, ada, 400],
      ['nobody', 'nobody', 400],
      [ada, ' ', 400],
      [ada, '', 400],
      [ada, 'a\0b', 400],
      [ada, 'x'.repeat(1025), 400],
      [ada, 7, 400],
      [ada, null, 400],
      ['%20', bob, 400],
      ['%00', bob, 400],
      ['x'.repeat(1025), bob, 400],
      ['nobody', bob, 404],
      ['nobody', 'no-one', 404],
      [ada, 'nobody', 404],
      [ada, 'x'.repeat(1024), 404],
      [ada, ` ${bob}`, 404],
    ] as const) {
      expect([id, other, (await add(id, other)).status]).toEqual([id, other, status])
    }
    for (const body of [{}, { user_id: bob, state: 'friend' }, []]) {
      expect((await operator.send('POST', `/accounts/${ada}/friends`, body)).status).toBe(400)
    }
    for (const [id, other] of [
      [ada, ada],
      [ada, '%20'],
      [ada, '%00'],
      ['%20', ada],
      [ada, 'x'.repeat(1025)],
    ] as const) {
      expect([id, other, (await remove(id, other)).status]).toEqual([id, other, 400])
    }
    expect((await read('nobody')).status).toBe(404)
    expect((await read('%20')).status).toBe(400)
    expect(await everything()).toEqual(before)
    expect(scenario.api.failures).toEqual([])
  })

  it('[H-IDM-3] does a repeated change once', async () => {
    const [ada, bob] = await idsOf(2)
    const headers = { 'idempotency-key': 'once' }
    const first = await add(ada, bob, headers)
    await scenario.clock.advance(100)
    const again = await add(ada, bob, headers)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await add(ada, ada, headers)).status).toBe(409)
    await remove(ada, bob, headers)
    await add(ada, bob)
    expect((await remove(ada, bob, headers)).status).toBe(204)
    expect(await list(ada)).toHaveLength(1)
    expect((await trailOf(ada)).map(([action]) => action)).toEqual([
      'accounts.friends.add',
      'accounts.friends.remove',
      'accounts.friends.add',
    ])
  })
})
