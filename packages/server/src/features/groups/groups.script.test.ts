import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

describe.each(testBackends)('groups of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })

  it('[S-API-13] are founded, found, changed and ended', async () => {
    const body = { name: 'Owls', creator_user_id: 'ada', description: 'night', max_size: 2 }
    const group = await call('groups.create', body)
    const { id } = Object(group)
    expect(group).toMatchObject({ name: 'Owls', open: true, members: [{ role: 'superadmin' }] })
    expect(await call('groups.get', id)).toEqual(group)
    const changed = await call('groups.update', id, { open: false })
    expect(changed).toMatchObject({ open: false, description: 'night' })
    const { members: _, ...summary } = Object(changed)
    expect(await call('groups.of_user', 'ada')).toEqual([summary])
    expect(await call('groups.list', { filter: 'wl' })).toEqual({ items: [summary], total: 1 })
    expect(await call('groups.remove', id)).toBe(true)
    expect(await call('groups.remove', id)).toBe(false)
    expect(await call('groups.get', id)).toBeNull()
    expect(await call('groups.of_user', 'ada')).toEqual([])
  })

  it('[S-API-13] keep the ladder, the size and the last superadmin', async () => {
    const group = await call('groups.create', { name: 'Two', creator_user_id: 'ada', max_size: 2 })
    const { id } = Object(group)
    const roles = async () => {
      const { members } = Object(await call('groups.get', id))
      return members.map(({ user_id, role }: Record<string, string>) => `${user_id} ${role}`)
    }
    await call('groups.add_member', id, 'bob')
    const conflict = { code: 'conflict' }
    await expect(call('groups.add_member', id, 'eve')).rejects.toMatchObject(conflict)
    await expect(call('groups.add_member', id, 'bob')).rejects.toMatchObject(conflict)
    await expect(call('groups.kick', id, 'ada')).rejects.toMatchObject(conflict)
    await expect(call('groups.demote', id, 'ada')).rejects.toMatchObject(conflict)
    await call('groups.promote', id, 'bob')
    expect(await roles()).toEqual(['ada superadmin', 'bob admin'])
    await call('groups.promote', id, 'bob')
    await call('groups.demote', id, 'ada')
    expect(await roles()).toEqual(['ada admin', 'bob superadmin'])
    await call('groups.kick', id, 'ada')
    expect(await roles()).toEqual(['bob superadmin'])
  })

  it('[S-API-1] refuse what the console refuses, and what is not there', async () => {
    const refused: [name: string, args: unknown[], code: string][] = [
      ['groups.create', [{ name: ' ', creator_user_id: 'ada' }], 'invalid_request'],
      ['groups.create', [{ name: 'x' }], 'invalid_request'],
      ['groups.create', [{ name: 'x', creator_user_id: 'a', tag: 1 }], 'invalid_request'],
      ['groups.create', [{ name: 'Two', creator_user_id: 'ada' }], 'conflict'],
      ['groups.list', [{ limit: '1' }], 'invalid_request'],
      ['groups.get', ['1'], 'invalid_request'],
      ['groups.update', [9999, { open: true }], 'not_found'],
      ['groups.add_member', [9999, 'ada'], 'not_found'],
      ['groups.promote', [9999, 'ada'], 'not_found'],
      ['groups.kick', [1], 'invalid_request'],
    ]
    for (const [name, args, code] of refused) {
      await expect(call(name, ...args), `${name} ${JSON.stringify(args)}`).rejects.toMatchObject({
        code,
      })
    }
  })

  it('[S-API-18] are not audited', async () => {
    expect(await scenario.countRows('audit_unsealed')).toBe(0)
  })
})
