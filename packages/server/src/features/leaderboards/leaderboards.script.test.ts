import { auditApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptCaller, scriptOf } from '../../testing/script-calls.fixture.ts'

const invalid = { name: 'Failure', code: 'invalid_request' }
const missing = { name: 'Failure', code: 'not_found' }

const wrongIds: unknown[] = ['', 'é'.repeat(65), 'a\u0000', 'a\n', '\ud800', 7, null, undefined]
const wrongUsers: unknown[] = ['', 'é'.repeat(129), 'a\u0000', '\udc00', 7, null, undefined]

describe.each(testBackends)('boards of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    await call('leaderboards.create', { id: 'b' })
    return () => scenario.dispose()
  })

  it('[S-API-1] [S-API-11] are not opened with what a console route would refuse', async () => {
    const wrong: Record<string, unknown>[] = [
      ...wrongIds.map((id) => ({ id })),
      { sort: 'up' },
      { operator: 'worst' },
      { reset_schedule: 7 },
      { reset_schedule: 'x'.repeat(1025) },
      { reset_schedule: 'x\u0000' },
      { reset_schedule: '\ud800' },
      { else: 1 },
    ]
    for (const part of wrong) {
      const opened = call('leaderboards.create', { id: 'wrong', ...part })
      await expect(opened, JSON.stringify(part)).rejects.toMatchObject(invalid)
    }
    const again = call('leaderboards.create', { id: 'b' })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    const boards = (await call('leaderboards.list')) as { id: string }[]
    expect(boards.map(({ id }) => id)).toEqual(['b'])
    const id = 'é'.repeat(64)
    expect(await call('leaderboards.create', { id })).toMatchObject({ id })
  })

  it('[S-API-1] [S-API-11] take nothing of what a console route would refuse', async () => {
    const wrong: [args: unknown[], options?: object][] = [
      ...wrongIds.map((id): [unknown[]] => [[id, 'u', 1n]]),
      ...wrongUsers.map((user): [unknown[]] => [['b', user, 1n]]),
      [['b', 'u', 2n ** 63n]],
      [['b', 'u', -(2n ** 63n) - 1n]],
      [['b', 'u', 2 ** 53]],
      [['b', 'u', 0.5]],
      [['b', 'u', '1']],
      [['b', 'u']],
      [['b', 'u', 1n], { subscore: 2n ** 63n }],
      [['b', 'u', 1n], { metadata: [] }],
      [['b', 'u', 1n], { metadata: 'text' }],
      [['b', 'u', 1n], { metadata: { a: '\ud800' } }],
      [['b', 'u', 1n], { metadata: { '\udc00': 1 } }],
      [['b', 'u', 1n], { metadata: { a: new Uint8Array(1) } }],
      [['b', 'u', 1n], { else: 1 }],
    ]
    for (const [args, options] of wrong) {
      const given = options === undefined ? args : [...args, options]
      const submitted = call('leaderboards.submit', ...given)
      await expect(submitted, String(args)).rejects.toMatchObject(invalid)
    }
    const user_id = 'é'.repeat(128)
    const metadata = { a: '😀', exact: 9007199254740993n }
    const record = await call('leaderboards.submit', 'b', user_id, -(2n ** 63n), { metadata })
    expect(record).toMatchObject({ user_id, score: -(2n ** 63n), subscore: 0n, metadata })
    const page = await call('leaderboards.records', 'b')
    expect(page).toMatchObject({ total: 1, items: [{ rank: 1, user_id, metadata }] })
  })

  it('[S-API-26] [S-API-11] show one record, its neighbours, and those of some users', async () => {
    await call('leaderboards.create', { id: 'ranks' })
    for (let at = 1; at <= 9; at += 1) await call('leaderboards.submit', 'ranks', `u${at}`, at)
    const usersIn = (rows: unknown) =>
      (rows as { rank: number; user_id: string }[]).map(({ rank, user_id }) => `${rank} ${user_id}`)
    expect(await call('leaderboards.get', 'ranks', 'u9')).toMatchObject({ rank: 1, score: 9n })
    expect(await call('leaderboards.get', 'ranks', 'nobody')).toBeNull()
    const around = await call('leaderboards.around', 'ranks', 'u5', 2, 1)
    expect(usersIn(around)).toEqual(['3 u7', '4 u6', '5 u5', '6 u4'])
    expect(await call('leaderboards.around', 'ranks', 'nobody', 500, 500)).toEqual([])
    const asked: [string, number, number][] = Array.from({ length: 9 }, (_, at) => [
      `u${at + 1}`,
      at % 3,
      1,
    ])
    const shown = await Promise.all(
      [...asked, ...asked, ['nobody', 1, 1]].map((args) =>
        call('leaderboards.around', 'ranks', ...args),
      ),
    )
    const ranked = Array.from({ length: 9 }, (_, at) => `${at + 1} u${9 - at}`)
    const besides = asked.map(([user, before, after]) => {
      const at = ranked.findIndex((each) => each.endsWith(user))
      return ranked.slice(Math.max(0, at - before), at + after + 1)
    })
    expect(shown.map(usersIn)).toEqual([...besides, ...besides, []])
    const some = await call('leaderboards.of_users', 'ranks', ['u1', 'nobody', 'u8', 'u5', 'u8'])
    expect(usersIn(some)).toEqual(['2 u8', '5 u5', '9 u1'])
    expect(await call('leaderboards.of_users', 'ranks', [])).toEqual([])
    expect(await call('leaderboards.of_users', 'ranks', ['nobody'])).toEqual([])
    const page = await call('leaderboards.records', 'ranks', { limit: 2, offset: 3 })
    expect(usersIn(Object(page).items)).toEqual(['4 u6', '5 u5'])
    expect(await call('leaderboards.remove', 'ranks', 'u8')).toBe(true)
    expect(await call('leaderboards.remove', 'ranks', 'u8')).toBe(false)
    expect(await call('leaderboards.get', 'ranks', 'u7')).toMatchObject({ rank: 2 })
  })

  it('[S-API-26] [S-API-32] know no unknown board, and no argument out of its bounds', async () => {
    const calls: [name: string, args: unknown[]][] = [
      ['leaderboards.submit', ['nowhere', 'u', 1]],
      ['leaderboards.get', ['nowhere', 'u']],
      ['leaderboards.records', ['nowhere']],
      ['leaderboards.remove', ['nowhere', 'u']],
      ['leaderboards.around', ['nowhere', 'u', 1, 1]],
      ['leaderboards.of_users', ['nowhere', ['u']]],
      ['leaderboards.of_users', ['nowhere', []]],
    ]
    for (const [name, args] of calls) {
      await expect(call(name, ...args), name).rejects.toMatchObject(missing)
    }
    for (const wrong of [-1, 501, 0.5, '1', undefined]) {
      const before = call('leaderboards.around', 'b', 'u', wrong, 0)
      await expect(before).rejects.toMatchObject(invalid)
      const after = call('leaderboards.around', 'b', 'u', 0, wrong)
      await expect(after).rejects.toMatchObject(invalid)
    }
    const many = Array.from({ length: 101 }, (_, at) => `u${at}`)
    await expect(call('leaderboards.of_users', 'b', many)).rejects.toMatchObject(invalid)
    expect(await call('leaderboards.of_users', 'b', many.slice(1))).toEqual([])
    for (const user of wrongUsers) {
      await expect(call('leaderboards.get', 'b', user)).rejects.toMatchObject(invalid)
    }
  })

  it('[S-API-36] are ended with their records, and say whether there was one', async () => {
    await call('leaderboards.create', { id: 'ending' })
    await call('leaderboards.submit', 'ending', 'u', 1)
    expect(await call('leaderboards.delete', 'ending')).toBe(true)
    expect(await call('leaderboards.delete', 'ending')).toBe(false)
    await expect(call('leaderboards.get', 'ending', 'u')).rejects.toMatchObject(missing)
    for (const id of wrongIds) {
      await expect(call('leaderboards.delete', id)).rejects.toMatchObject(invalid)
    }
    expect(await call('leaderboards.create', { id: 'ending' })).toMatchObject({ records: 0 })
  })

  it('[S-API-18] [S-API-36] are audited where they are opened and ended, and nowhere else', async () => {
    const operator = await openOperator(scenario.api)
    const answer = await operator.send('GET', '/audit?limit=500&action=leaderboards.')
    const { entries } = auditApi.list.ok.parse(answer.body)
    const words = entries.map(({ action, actor_type, actor, role, target, details }) =>
      [action, target, actor_type, actor, role, details].join(' '),
    )
    const by = `script script - ${scriptCaller.revision_id}`
    expect(words.filter((each) => each.includes('ending'))).toEqual([
      `leaderboards.create ending ${by}`,
      `leaderboards.delete ending ${by}`,
      `leaderboards.create ending ${by}`,
    ])
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set(['leaderboards.create', 'leaderboards.delete']),
    )
  })
})
