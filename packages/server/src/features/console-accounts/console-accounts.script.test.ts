import { auditApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptCaller, scriptOf } from '../../testing/script-calls.fixture.ts'

describe.each(testBackends)('accounts of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  let operator: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[S-API-17] are shown without what anybody signs in with', async () => {
    const { user_id } = await scenario.signUp('ada')
    const now = scenario.clock.nowUnixMs()
    expect(await call('accounts.get', user_id)).toEqual({
      user_id,
      username: 'ada',
      display_name: null,
      state: 'active',
      metadata: null,
      created_at_unix_ms: now,
      updated_at_unix_ms: now,
    })
    expect(await call('accounts.get', 'nobody')).toBeNull()
  })

  it('[S-API-17] are looked up by up to 100 keys, each once, and active ones only', async () => {
    const [bob, eve] = [await scenario.signUp('bob'), await scenario.signUp('eve')]
    await scenario.setState(eve.user_id, 'disabled')
    const keys = {
      user_ids: ['nobody', bob.user_id, eve.user_id],
      usernames: ['ada', 'bob', 'eve'],
    }
    const found = (await call('accounts.lookup', keys)) as { username: string }[]
    expect(found.map(({ username }) => username)).toEqual(['bob', 'ada'])
    expect(await call('accounts.lookup', {})).toEqual([])
    const many = Array.from({ length: 101 }, (_, at) => `user-${at}`)
    for (const wrong of [
      { user_ids: many },
      { usernames: many },
      { user_ids: many.slice(0, 60), usernames: many.slice(0, 41) },
      { emails: [] },
      { user_ids: [1] },
    ]) {
      const invalid = { code: 'invalid_request' }
      await expect(call('accounts.lookup', wrong)).rejects.toMatchObject(invalid)
    }
    expect(await call('accounts.lookup', { user_ids: many.slice(0, 100) })).toEqual([])
  })

  it('[S-API-17] change their display name and metadata', async () => {
    const { user_id } = await scenario.signUp()
    const metadata = { rank: 9007199254740993n }
    const changed = await call('accounts.update', user_id, { display_name: 'Zoë', metadata })
    expect(changed).toMatchObject({ user_id, display_name: 'Zoë', metadata })
    expect(await call('accounts.update', user_id, {})).toMatchObject({
      display_name: 'Zoë',
      metadata,
    })
    const cleared = await call('accounts.update', user_id, { display_name: null })
    expect(cleared).toMatchObject({ display_name: null, metadata })
    const missing = call('accounts.update', 'nobody', { display_name: 'x' })
    await expect(missing).rejects.toMatchObject({ code: 'not_found' })
    for (const patch of [{ username: 'x' }, { display_name: 'x'.repeat(256) }, { metadata: 1 }]) {
      const invalid = { code: 'invalid_request' }
      await expect(call('accounts.update', user_id, patch)).rejects.toMatchObject(invalid)
    }
  })

  it('[S-API-17] [R-REV-1] are banned with their sessions, and allowed again', async () => {
    const { user_id, token } = await scenario.signUp()
    const before = scenario.api.revoked.length
    expect(await call('accounts.ban', user_id)).toMatchObject({ user_id, state: 'disabled' })
    expect(scenario.api.revoked).toHaveLength(before + 1)
    const profile = await scenario.api.call('GET', '/v1/account', { token })
    expect(profile.status).toBe(401)
    expect(await call('accounts.ban', user_id)).toMatchObject({ state: 'disabled' })
    expect(await call('accounts.unban', user_id)).toMatchObject({ state: 'active' })
    for (const name of ['accounts.ban', 'accounts.unban']) {
      await expect(call(name, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    }
    await scenario.setState(user_id, 'tombstoned')
    await expect(call('accounts.ban', user_id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('[S-API-18] are audited when banned or allowed, and otherwise not', async () => {
    const { user_id } = await scenario.signUp()
    await call('accounts.update', user_id, { display_name: 'quiet' })
    await call('accounts.ban', user_id)
    await call('accounts.unban', user_id)
    const answer = await operator.send('GET', '/audit?limit=500&action=accounts.')
    const { entries } = auditApi.list.ok.parse(answer.body)
    const seen = entries
      .filter(({ target }) => target === `account ${user_id}`)
      .map(({ action, actor_type, actor, role, details }) => {
        return [action, actor_type, actor, role, details].join(' ')
      })
    const words = `script script - ${scriptCaller.revision_id}`
    expect(seen).toEqual([`accounts.unban ${words}`, `accounts.ban ${words}`])
  })
})
