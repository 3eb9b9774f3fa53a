import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

type Row = { id: number; subject: string; read_at_unix_ms: number | null }

describe.each(testBackends)('notifications of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })
  const send = async (body: object) =>
    (await call('notifications.send', { subject: 'news', ...body })) as Row
  const idsOf = async (user: string, options: object = {}) => {
    const rows = (await call('notifications.list', user, options)) as Row[]
    return rows.map(({ id }) => id)
  }

  it('[S-API-16] are stored for one or for all, and listed newest first', async () => {
    const content = { exact: 9007199254740993n }
    const own = await send({ user_id: 'list', content, code: 7 })
    expect(own).toEqual({
      id: expect.any(Number),
      user_id: 'list',
      subject: 'news',
      content,
      code: 7,
      created_at_unix_ms: scenario.clock.nowUnixMs(),
      read: false,
      read_at_unix_ms: null,
    })
    const all = await send({})
    await send({ user_id: 'other' })
    expect(await call('notifications.list', 'list')).toEqual([all, own])
    expect(await idsOf('list', { limit: 1 })).toEqual([all.id])
    expect(await idsOf('list', { before: all.id })).toEqual([own.id])
    expect(await idsOf('list', { limit: 0 })).toEqual([all.id])
    expect(scenario.api.players.sent).toEqual([])
  })

  it('[S-API-16] are read once, by the user they are for', async () => {
    const own = await send({ user_id: 'read' })
    const all = await send({})
    const at = scenario.clock.nowUnixMs()
    expect(await call('notifications.mark_read', 'read', own.id)).toBe(true)
    await scenario.clock.advance(5)
    expect(await call('notifications.mark_read', 'read', own.id)).toBe(true)
    const [, row] = (await call('notifications.list', 'read', { limit: 2 })) as Row[]
    expect(row).toMatchObject({ id: own.id, read: true, read_at_unix_ms: at })
    for (const [user, id] of [
      ['other', own.id],
      ['read', all.id],
      ['read', 999_999],
    ]) {
      expect(await call('notifications.mark_read', user, id)).toBe(false)
    }
  })

  it('[S-API-16] [S-API-32] are removed, and only once', async () => {
    const { id } = await send({})
    expect(await call('notifications.remove', id)).toBe(true)
    expect(await call('notifications.remove', id)).toBe(false)
  })

  it('[S-API-16] [R-PSH-2] are pushed to those given, else to whom they are for', async () => {
    const { sent } = scenario.api.players
    const own = await send({ user_id: 'push', content: { a: 1 }, push: true })
    const json = {
      type: 'notification',
      id: own.id,
      code: 0,
      subject: 'news',
      content: { a: 1 },
      created_at_unix_ms: scenario.clock.nowUnixMs(),
      read_at_unix_ms: null,
    }
    expect(sent.splice(0)).toEqual([{ to: ['push'], kind: 27, json }])
    const all = await send({ push: true })
    await call('notifications.push', own, ['bob', 'eve'])
    await call('notifications.push', own)
    await call('notifications.push', all)
    expect(sent.splice(0).map(({ to }) => to)).toEqual([null, ['bob', 'eve'], ['push'], null])
    await send({ push: false })
    expect(sent).toEqual([])
  })

  it('[S-API-31] [S-API-32] unread ones of an account go to one participant, oldest first', async () => {
    const { sent, accounts } = scenario.api.players
    accounts.set(7, 'unread')
    const rows: Row[] = []
    for (const limit of [-1, 0, 101, 1.5]) {
      const asked = call('notifications.push_unread', 7, { limit })
      await expect(asked).rejects.toMatchObject({ code: 'invalid_request' })
    }
    for (const subject of ['a', 'b', 'c', 'd'])
      rows.push(await send({ user_id: 'unread', subject }))
    await send({ subject: 'for all' })
    await call('notifications.mark_read', 'unread', rows[1]?.id)
    expect(await call('notifications.push_unread', 7, { limit: 2 })).toBe(2)
    const subjects = sent.splice(0).map(({ to, kind, json }) => [to, kind, Object(json).subject])
    expect(subjects).toEqual([
      [[7], 27, 'c'],
      [[7], 27, 'd'],
    ])
    expect(await call('notifications.push_unread', 7)).toBe(3)
    expect(await call('notifications.push_unread', 7)).toBe(3)
    expect(await call('notifications.push_unread', 8)).toBe(0)
    expect(sent.splice(0)).toHaveLength(6)
  })

  it('[S-API-22] [S-API-23] are pushed by a transaction once it is committed, and by no repeat', async () => {
    const { sent } = scenario.api.players
    const notify = { op: 'notify', user_id: 'tx', subject: 'tx', push: true }
    const missing = { op: 'wallet', user_id: 'nobody', currency: 'gold', delta: 1 }
    await expect(call('transact', [notify, missing])).rejects.toMatchObject({ code: 'not_found' })
    expect(sent).toEqual([])
    const quiet = { ...notify, push: false }
    const options = { idempotency_key: 'pushes' }
    await call('transact', [notify, quiet, { ...notify, user_id: null }], options)
    expect(sent.splice(0).map(({ to }) => to)).toEqual([['tx'], null])
    await call('transact', [notify, quiet, { ...notify, user_id: null }], options)
    expect(sent).toEqual([])
  })

  it('[S-API-16] [S-API-1] refuse what the console refuses', async () => {
    const row = await send({})
    const invalid = { code: 'invalid_request' }
    for (const body of [{ subject: '' }, { code: 2 ** 31 }, { content: [] }, { other: 1 }]) {
      await expect(send(body)).rejects.toMatchObject(invalid)
    }
    const users = Array.from({ length: 1001 }, (_, at) => `user-${at}`)
    await expect(call('notifications.push', row, users)).rejects.toMatchObject(invalid)
    await expect(call('notifications.push', { id: 1 })).rejects.toMatchObject(invalid)
    await expect(call('notifications.list', '')).rejects.toMatchObject(invalid)
    await expect(call('notifications.mark_read', 'ada', '1')).rejects.toMatchObject(invalid)
  })
})
