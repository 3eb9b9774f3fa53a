import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

describe.each(testBackends)('friends of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })
  const someone = async () => (await scenario.signUp()).user_id

  it('[S-API-14] are invited, accepted and removed', async () => {
    const [ada, bob] = [await someone(), await someone()]
    const sent = { user_id: bob, state: 'invited_sent' }
    expect(await call('friends.add', ada, bob)).toMatchObject([sent])
    const friends = { user_id: ada, state: 'friend' }
    expect(await call('friends.add', bob, ada)).toMatchObject([friends])
    expect(await call('friends.list', bob)).toMatchObject([friends])
    expect(await call('friends.remove', ada, bob)).toBe(true)
    expect(await call('friends.remove', ada, bob)).toBe(false)
    expect(await call('friends.list', bob)).toEqual([])
  })

  it('[S-API-14] end with a block, which makes every addition a conflict until it is lifted', async () => {
    const [ada, bob] = [await someone(), await someone()]
    await call('friends.add', bob, ada)
    const blocked = { user_id: bob, state: 'blocked' }
    expect(await call('friends.block', ada, bob)).toMatchObject([blocked])
    expect(await call('friends.list', bob)).toEqual([])
    for (const pair of [
      [ada, bob],
      [bob, ada],
    ]) {
      await expect(call('friends.add', ...pair)).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await call('friends.remove', ada, bob)).toBe(true)
    expect(await call('friends.add', bob, ada)).toMatchObject([{ state: 'invited_sent' }])
  })

  it('[S-API-14] [S-API-32] need two accounts that are there', async () => {
    const ada = await someone()
    for (const name of ['friends.add', 'friends.remove', 'friends.block']) {
      const same = call(name, ada, ada)
      await expect(same).rejects.toMatchObject({ code: 'invalid_request' })
    }
    for (const name of ['friends.add', 'friends.block']) {
      const message = 'there is no account other_id'
      await expect(call(name, ada, 'nobody')).rejects.toMatchObject({ code: 'not_found', message })
    }
    expect(await call('friends.remove', ada, 'nobody')).toBe(false)
    await expect(call('friends.list', 'nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
