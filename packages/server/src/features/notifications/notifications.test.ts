import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type NotificationOperator, openNotificationOperator } from './notifications.fixture.ts'

describe.each(testBackends)('notifications on $name', (backend) => {
  let scenario: Scenario
  let operator: NotificationOperator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openNotificationOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-NTF-2] are answered whole, and listed newest first', async () => {
    const now = scenario.clock.nowUnixMs()
    const broadcast = await operator.post({ subject: ' as sent ' })
    const first = {
      id: 1,
      user_id: null,
      subject: ' as sent ',
      content: {},
      code: 0,
      created_at_unix_ms: now,
      read: false,
    }
    expect([broadcast.status, broadcast.body]).toEqual([201, first])
    await scenario.clock.advance(9)
    const request = {
      user_id: 'ann',
      subject: 's',
      content: { deep: { list: [1, null] } },
      code: -7,
    }
    const targeted = await operator.post(request)
    const second = { ...request, id: 2, created_at_unix_ms: now + 9, read: false }
    expect([targeted.status, targeted.body]).toEqual([201, second])
    expect((await operator.read()).body).toEqual({ items: [second, first], total: 2 })
  })

  it('[H-GEN-16] keep 64-bit integers of their content exactly', async () => {
    const content = '{"big":9223372036854775807,"__proto__":{"low":-9223372036854775808}}'
    const answer = await operator.post(`{"subject":"s","content":${content}}`)
    expect(answer.text).toContain(`"content":${content}`)
    expect((await operator.read()).text).toContain(`"content":${content}`)
  })

  it('[H-NTF-2] are for a user and everybody, or for everybody', async () => {
    const requests = [{ user_id: 'ann' }, {}, { user_id: 'bob' }, { user_id: 'ann' }, {}]
    for (const request of requests) await operator.send(request)
    expect(await operator.ids()).toEqual({ ids: [5, 4, 3, 2, 1], total: 5 })
    expect(await operator.ids('?user_id=ann')).toEqual({ ids: [5, 4, 2, 1], total: 4 })
    expect(await operator.ids('?user_id=bob')).toEqual({ ids: [5, 3, 2], total: 3 })
    expect(await operator.ids('?user_id=an')).toEqual({ ids: [5, 2], total: 2 })
    expect(await operator.ids('?user_id=Ann')).toEqual({ ids: [5, 2], total: 2 })
    expect(await operator.ids('?user_id=')).toEqual({ ids: [5, 2], total: 2 })
    expect((await operator.list('?user_id=ann')).items.map(({ user_id }) => user_id)).toEqual([
      null,
      'ann',
      null,
      'ann',
    ])
  })

  it('[H-NTF-2] [H-GEN-26] are paged by id, with a total that knows no pages', async () => {
    for (let made = 0; made < 7; made += 1) {
      await operator.send(made % 2 === 0 ? { user_id: 'ann' } : {})
    }
    expect(await operator.ids('?limit=3')).toEqual({ ids: [7, 6, 5], total: 7 })
    expect(await operator.ids('?limit=3&before=5')).toEqual({ ids: [4, 3, 2], total: 7 })
    expect(await operator.ids('?before=1')).toEqual({ ids: [], total: 7 })
    expect(await operator.ids('?before=0')).toEqual({ ids: [], total: 7 })
    expect(await operator.ids('?before=9007199254740991&limit=1')).toEqual({ ids: [7], total: 7 })
    expect(await operator.ids('?user_id=ann&limit=2&before=6')).toEqual({ ids: [5, 4], total: 7 })
    expect(await operator.ids('?user_id=x&limit=2&before=6')).toEqual({ ids: [4, 2], total: 3 })
    for (const query of ['?before=-1', '?before=x', '?before=', '?limit=', '?offset=1']) {
      expect([query, (await operator.read(query)).status]).toEqual([query, 400])
    }
  })

  it.each([
    '{}',
    '{"subject":null}',
    '{"subject":""}',
    '{"subject":" \\n"}',
    '{"subject":"a\\u0000"}',
    `{"subject":"${'é'.repeat(512)}x"}`,
    '{"subject":1}',
    '{"subject":"s","content":null}',
    '{"subject":"s","content":[]}',
    '{"subject":"s","content":"{}"}',
    '{"subject":"s","user_id":""}',
    '{"subject":"s","user_id":" "}',
    `{"subject":"s","user_id":"${'u'.repeat(1025)}"}`,
    '{"subject":"s","code":2147483648}',
    '{"subject":"s","code":-2147483649}',
    '{"subject":"s","code":1.0}',
    '{"subject":"s","code":"1"}',
    '{"subject":"s","read":true}',
  ])('[H-NTF-1] refuse %s', async (body) => {
    expect((await operator.post(body)).status).toBe(400)
    expect(await operator.ids()).toEqual({ ids: [], total: 0 })
    expect(await operator.trail()).toEqual([])
  })

  it('[H-NTF-1] take what is just within the bounds', async () => {
    const subject = 'é'.repeat(512)
    for (const code of [2_147_483_647, -2_147_483_648, null]) {
      const body = { subject, user_id: 'u'.repeat(1024), code }
      expect((await operator.post(body)).body).toMatchObject({ subject, code: code ?? 0 })
    }
    expect((await operator.post({ subject, user_id: null })).body).toMatchObject({ user_id: null })
  })

  it('[H-NTF-2] are gone when deleted, and once is enough', async () => {
    await operator.send({ user_id: 'ann' })
    await operator.send({})
    expect((await operator.remove(1)).status).toBe(204)
    expect((await operator.remove(1)).status).toBe(404)
    expect((await operator.remove(3)).status).toBe(404)
    expect((await operator.remove(0)).status).toBe(404)
    expect((await operator.remove('x')).status).toBe(400)
    expect((await operator.remove('-1')).status).toBe(400)
    expect(await operator.ids('?user_id=ann')).toEqual({ ids: [2], total: 1 })
    expect((await operator.remove(2)).status).toBe(204)
    expect(await operator.ids()).toEqual({ ids: [], total: 0 })
  })

  it('[H-NTF-3] are audited without what they say', async () => {
    await operator.post({ user_id: 'ann', subject: 'SECRET', content: { x: 'SECRET' }, code: -3 })
    await operator.post({ subject: 'SECRET' })
    await operator.remove(1)
    await operator.remove(1)
    const words = (await operator.trail()).map(({ action, target, details }) => [
      action,
      target,
      details,
    ])
    expect(words).toEqual([
      ['notifications.delete', '1', 'deleted'],
      ['notifications.send', 'broadcast', 'id=2 code=0'],
      ['notifications.send', 'user ann', 'id=1 code=-3'],
    ])
  })

  it('[O-ID-1] never get an id again, neither after a delete nor after a restart', async () => {
    await operator.send({})
    await operator.send({})
    await operator.remove(2)
    expect((await operator.send({})).id).toBe(3)
    await operator.remove(3)
    await scenario.restart()
    operator = await openNotificationOperator(scenario.api)
    const durable = backend.name !== 'in-memory'
    expect(await operator.ids()).toEqual(durable ? { ids: [1], total: 1 } : { ids: [], total: 0 })
    expect((await operator.send({})).id).toBe(durable ? 4 : 1)
  })

  it('[H-IDM-3] are sent once for one key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all([1, 2, 3].map(() => operator.post({ subject: 's' }, headers)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await operator.ids()).toEqual({ ids: [1], total: 1 })
  })
})
