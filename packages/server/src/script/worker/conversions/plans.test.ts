import { type ScriptFunction, scriptApi, scriptHooks } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { planFunction, planHandler } from './plans.ts'

const plan = (name: keyof typeof scriptApi) => planFunction(scriptApi[name])
const argument = (name: keyof typeof scriptApi, wanted: string) =>
  plan(name).args.find((each) => each.name === wanted)

it('[S-LANG-4] a string is bytes where the table says so, and a text elsewhere', () => {
  expect(argument('broadcast', 'body')?.strings).toBe('bytes')
  expect(argument('trace', 'message')?.strings).toBe('text')
  expect(planHandler(scriptHooks.on_message).args[1]?.strings).toBe('bytes')
  expect(planHandler(scriptHooks.on_rpc).answer).toMatchObject({ strings: 'bytes', isJson: true })
  expect(planHandler(scriptHooks.on_room_create).answer).toMatchObject({
    strings: 'text',
    holds: 'object',
    members: { properties: { isJson: true }, refuse: { strings: 'text' } },
  })
})

it('[S-LANG-4] nothing is null where null is taken, and absent elsewhere', () => {
  expect(argument('storage_write', 'owner')?.takesNull).toBe(true)
  expect(argument('storage_write', 'value')?.takesNull).toBe(false)
  expect(argument('broadcast', 'options')?.takesNull).toBe(false)
})

it('[S-LANG-1] operations have the members of all their kinds, and free JSON stays free', () => {
  expect(argument('transact', 'ops')).toMatchObject({
    holds: 'list',
    each: { holds: 'object', members: { value: { isJson: true }, delta: { isJson: false } } },
  })
  expect(plan('storage_read').ok).toMatchObject({ members: { value: { isJson: true } } })
  expect(plan('wallet.get').ok).toMatchObject({ holds: 'record', each: { strings: 'text' } })
})

it('are plain data, for guests that convert by themselves', () => {
  for (const row of Object.values<ScriptFunction>(scriptApi)) {
    const made = planFunction(row)
    expect(JSON.parse(JSON.stringify(made))).toEqual(made)
  }
})
