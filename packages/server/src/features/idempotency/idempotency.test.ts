import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { recordLifeMs } from './idempotency.store.ts'

const viewer = { username: 'eve', password: 'only-looking' }

describe.each(testBackends)('requests under an Idempotency-Key on $name', (backend) => {
  let scenario: Scenario
  /** The admin at two nodes. */
  let operators: [Operator, Operator]
  beforeAll(async () => {
    scenario = await openScenario(backend, {
      'console.viewer_username': viewer.username,
      'console.viewer_password': viewer.password,
      // The records outlive the operator's session here.
      'console.token_expiry_sec': '604800',
    })
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    operators = [await openOperator(scenario.api), await openOperator(other)]
    return () => scenario.dispose()
  })
  let made = 0
  const freshKey = () => {
    made += 1
    return `key-${made}`
  }
  const send = (key: string, body: unknown = { subject: 'news' }, path = '/notifications') =>
    operators[0].send('POST', path, body, { 'idempotency-key': key })
  const sent = () => scenario.countRows('notifications')

  it('[H-IDM-1] take a key of 1..128 visible ASCII characters, and one only', async () => {
    const before = await sent()
    for (const bad of ['', ' ', 'a b', 'a\tb', 'ä', 'k'.repeat(129)]) {
      expect((await send(bad)).status, bad).toBe(400)
    }
    expect(await statusOfTwo(scenario.api.url, operators[0].token)).toBe(400)
    expect(await sent()).toBe(before)
    for (const good of ['!', '~', 'k'.repeat(128)]) expect((await send(good)).status).toBe(201)
    expect(await sent()).toBe(before + 3)
  })

  it('[H-IDM-1] [H-IDM-3] are asked for who it is and what they may before for the key', async () => {
    const bad = { 'idempotency-key': 'k'.repeat(129) }
    const operator = await openOperator(scenario.api, viewer)
    expect((await operator.send('POST', '/notifications', { subject: 'x' }, bad)).status).toBe(403)
    expect((await operator.send('GET', '/notifications', undefined, bad)).status).toBe(200)
    const key = freshKey()
    await send(key)
    const headers = { 'idempotency-key': key }
    const taken = await operator.send('POST', '/notifications', { subject: 'news' }, headers)
    expect(taken.status).toBe(403)
    const { call } = scenario.api
    const stranger = await call('POST', '/console/v1/notifications', { body: '{}', headers })
    expect(stranger.status).toBe(401)
  })

  it('[H-IDM-2] are the same with the same path and query as sent', async () => {
    const before = await sent()
    const key = freshKey()
    const paths = ['/notifications', '/notifications?', '/notifications?a=1', '/notifications?a=2']
    for (const path of [...paths, ...paths]) {
      expect((await send(key, { subject: 'news' }, path)).status).toBe(201)
    }
    expect(await sent()).toBe(before + paths.length)
  })

  it('[H-IDM-2] are distinguished by paths and queries of any length', async () => {
    const before = await sent()
    const key = freshKey()
    // Random, because PostgreSQL makes a text shorter that repeats itself.
    const query = `/notifications?q=${randomBytes(4000).toString('base64url')}`
    const paths = ['a', 'b', query.slice(-700)].map((end) => query + end)
    for (const path of [...paths, ...paths]) {
      expect((await send(key, { subject: 'news' }, path)).status).toBe(201)
    }
    expect(await sent()).toBe(before + paths.length)
  })

  it('[H-IDM-3] [H-IDM-2] are refused with another body, be it another spelling or none', async () => {
    const before = await sent()
    const key = freshKey()
    await send(key, '{"subject":"news"}')
    for (const other of ['{"subject": "news"}', '{"subject":"olds"}', '{"subject":']) {
      const answer = await send(key, other)
      expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([409, null])
    }
    expect((await send(key, '{"subject":"news"}')).status).toBe(201)
    expect(await sent()).toBe(before + 1)
  })

  it('[H-IDM-2] are kept for 24 hours from the first, to the millisecond', async () => {
    const key = freshKey()
    const first = await send(key)
    await scenario.clock.advance(recordLifeMs - 1)
    await scenario.api.pruner('idempotency_records')(1000)
    const repeated = await send(key)
    expect([repeated.text, repeated.headers.get('idempotency-replayed')]).toEqual([
      first.text,
      'true',
    ])
    await scenario.clock.advance(1)
    // It gives way whether or not it was removed; what comes now is kept anew.
    const anew = await send(key, { subject: 'other news' })
    expect([anew.status, anew.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect((await send(key, { subject: 'other news' })).text).toBe(anew.text)
    await scenario.clock.advance(recordLifeMs)
    await scenario.api.pruner('idempotency_records')(1000)
    expect(await scenario.countRows('idempotency_records')).toBe(0)
    expect((await send(key)).headers.get('idempotency-replayed')).toBeNull()
  })

  it('[H-IDM-4] wait for the first one for 10 seconds, and not for others', async () => {
    const key = freshKey()
    const first = {
      principal: 'admin:admin',
      target: 'POST /console/v1/notifications',
      key,
      body_digest: hash('sha256', '{"subject":"news"}', 'buffer'),
      recordsAnswer: true,
      recordOf: () => ({ status: 201, body: null }),
    }
    const { idempotency } = scenario.api.features
    expect(await idempotency.enter(first)).toBeUndefined()
    const timers = scenario.clock.timersWaiting()
    const asking = async (...[of]: [string]) => {
      const answer = send(of)
      while (scenario.clock.timersWaiting() === timers) await turn()
      return { answer }
    }
    const late = await asking(key)
    expect((await send(freshKey())).status).toBe(201)
    await scenario.clock.advance(9999)
    expect(await Promise.race([late.answer, turn('waits')])).toBe('waits')
    await scenario.clock.advance(1)
    expect((await late.answer).status).toBe(409)
    const next = await asking(key)
    idempotency.leave(first)
    expect((await next.answer).status).toBe(201)
    expect(scenario.clock.timersWaiting()).toBe(timers)
  })

  it('[H-IDM-3] get the same at both nodes, also where the change met itself', async () => {
    for (let round = 0; round < 6; round += 1) {
      const headers = { 'idempotency-key': freshKey() }
      const body = { name: `found ${round} on ${backend.name}` }
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          operators[index % 2 === 0 ? 0 : 1].send('POST', '/groups', body, headers),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      const first = answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)
      expect(first).toHaveLength(1)
    }
  })
})

/** The status of a request with two keys in lines of their own. */
async function statusOfTwo(url: string, token: string): Promise<number | undefined> {
  const sending = request(`${url}/console/v1/notifications`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': ['one', 'two'],
    },
  })
  sending.end('{"subject":"news"}')
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode
}
