import { friendsApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { countTurns } from '../../kernel/time/turns.fixture.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createFriends } from './friends.service.ts'

const count = 2001

describe.each(testBackends)('an account with many friends on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  let id: string
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    id = (await scenario.signUp()).user_id
    await scenario.db.run(putAccounts, { id, count })
    await scenario.db.run(putFriends, { id, count })
    return () => scenario.dispose()
  })

  const listed = () =>
    Array.from({ length: count }, (_, at) => ({
      user_id: `${id}-${String(at + 1).padStart(5, '0')}`,
      state: 'friend',
      updated_unix_ms: 1_700_000_000_000,
    }))

  it('[H-FRD-1] lists each of them once, by id', async () => {
    const answer = await operator.send('GET', `/accounts/${id}/friends`)
    expect(friendsApi.list.ok.parse(answer.body)).toEqual(listed())
    expect(answer.headers.get('content-length')).toBe(String(Buffer.byteLength(answer.text)))
  })

  it('[H-FRD-1] lets others go on while it reads them', async () => {
    const { db, clock } = scenario
    const unused = () => Promise.reject(new Error('a list changes nothing'))
    const friends = createFriends({ db, clock, mutate: unused, accountExists: unused })
    const turns = countTurns()
    expect(await friends.list(id)).toEqual(listed())
    turns.stop()
    expect(turns.count).toBeGreaterThanOrEqual(4)
  })

  it('[H-FRD-1] [H-IDM-1] answers an addition with all of them, and a repeat alike', async () => {
    const { user_id } = await scenario.signUp()
    const add = () =>
      operator.send('POST', `/accounts/${id}/friends`, { user_id }, { 'idempotency-key': 'many' })
    const [first, repeated] = [await add(), await add()]
    expect(friendsApi.add.ok.parse(first.body)).toHaveLength(count + 1)
    expect(repeated.text).toBe(first.text)
    expect(repeated.headers.get('idempotency-replayed')).toBe('true')
    expect((await operator.send('GET', `/accounts/${id}/friends`)).text).toBe(first.text)
  })
})

const counted = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)'
const other = `:id || '-' || substr('0000' || n.i, length('0000' || n.i) - 4)`
const params = { id: 'text', count: 'integer' } as const

const putAccounts = statement({
  name: 'friends-many-test.put-accounts',
  text: `INSERT INTO accounts (id, username, state, created_at_unix_ms, updated_at_unix_ms)
    ${counted} SELECT ${other}, ${other}, 'active', 1, 1 FROM n`,
  params,
})

const putFriends = statement({
  name: 'friends-many-test.put-friends',
  text: `INSERT INTO friend_edges (user_id, other_id, state, updated_unix_ms)
    ${counted} SELECT :id, ${other}, 'friend', 1700000000000 FROM n ORDER BY n.i DESC`,
  params,
})
