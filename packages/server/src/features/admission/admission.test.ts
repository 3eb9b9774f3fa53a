import { errorTable } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type ApiAnswer, openTestApi, type TestApi } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const limits = {
  'authentication.limits.source.limit': '5',
  'authentication.limits.source.window_ms': '60000',
  'authentication.limits.email.limit': '3',
  'authentication.limits.email.window_ms': '900000',
  'authentication.limits.registration_source.limit': '2',
  'authentication.limits.registration_source.window_ms': '3600000',
}
const refused = { code: 'rate_limited', message: errorTable.rate_limited.message }

describe.each(testBackends)('admission on $name', (backend) => {
  let scenario: Scenario
  /** A source that no other test has used. */
  let from: string
  let sources = 0
  beforeEach(async () => {
    scenario = await openScenario(backend, limits)
    sources += 1
    from = `198.51.100.${sources}`
    return () => scenario.dispose()
  })

  const signIn = (method: string, body: unknown, more: { from?: string; on?: TestApi } = {}) =>
    (more.on ?? scenario.api).call('POST', `/v1/auth/${method}`, {
      body,
      headers: { 'x-forwarded-for': more.from ?? from },
    })
  const stranger = (more?: { from?: string; on?: TestApi }) =>
    signIn('device', { id: 'stranger' }, more)
  const statuses = async (number: number, attempt: (index: number) => Promise<ApiAnswer>) => {
    const found: number[] = []
    for (let index = 0; index < number; index += 1) found.push((await attempt(index)).status)
    return found
  }
  const retryAfter = ({ headers }: ApiAnswer) => Number(headers.get('retry-after'))

  it('[H-ADM-1] lets exactly the limit through in one window, aligned to the epoch', async () => {
    await scenario.clock.advance(59_999)
    expect(await statuses(6, () => stranger())).toEqual([401, 401, 401, 401, 401, 429])
    await scenario.clock.advance(1)
    expect(await statuses(6, () => stranger())).toEqual([401, 401, 401, 401, 401, 429])
    await scenario.clock.advance(59_999)
    expect((await stranger()).status).toBe(429)
    await scenario.clock.advance(1)
    expect((await stranger()).status).toBe(401)
  })

  it('[H-ADM-3] counts every attempt that passed the shape checks, whatever became of it', async () => {
    const body = { id: 'counted', create: true, username: 'counted' }
    expect((await signIn('device', body)).status).toBe(201)
    expect((await signIn('device', { id: 'counted' })).status).toBe(200)
    expect((await stranger()).status).toBe(401)
    const taken = { id: 'other', create: true, username: 'counted' }
    expect((await signIn('custom', taken)).status).toBe(409)
    expect((await signIn('email', { email: 'a@b.c', password: 'some password' })).status).toBe(401)
    expect((await stranger()).status).toBe(429)
  })

  it('[H-ADM-3] counts nothing that is malformed', async () => {
    const malformed = [{}, { id: '' }, { id: 'x', create: true }, { id: 'x', extra: 1 }, 'no json']
    for (const body of [...malformed, ...malformed]) {
      expect((await signIn('device', body)).status).toBe(400)
    }
    expect((await signIn('email', { email: 'nobody', password: 'some password' })).status).toBe(400)
    expect(await scenario.countRows('admission_windows')).toBe(0)
    expect(await statuses(5, () => stranger())).toEqual(Array(5).fill(401))
  })

  it('[H-ADM-3] counts an attempt by email under its source and its normalised address', async () => {
    const tries = (email: string, source: string) =>
      signIn('email', { email, password: 'some password' }, { from: source })
    const spellings = ['ada@example.com', ' ADA@example.com', 'Ada@Example.Com ']
    for (const [index, email] of spellings.entries()) {
      expect((await tries(email, `203.0.113.${index}`)).status).toBe(401)
    }
    expect((await tries('ada@example.com', '203.0.113.9')).status).toBe(429)
    expect((await tries('bob@example.com', '203.0.113.9')).status).toBe(401)
    await scenario.clock.advance(899_999)
    expect((await tries('ada@example.com', '203.0.113.9')).status).toBe(429)
    await scenario.clock.advance(1)
    expect((await tries('ada@example.com', '203.0.113.9')).status).toBe(401)
  })

  it('[H-ADM-3] counts a input to register, whether or not the credential is known', async () => {
    const body = { id: 'input', create: true, username: 'input' }
    expect(await statuses(3, () => signIn('device', body))).toEqual([201, 200, 429])
    expect((await signIn('device', { id: 'input' })).status).toBe(200)
    expect((await signIn('device', { id: 'input', create: false })).status).toBe(200)
    expect((await signIn('device', body, { from: '203.0.113.1' })).status).toBe(200)
    await scenario.clock.advance(3_599_999)
    expect((await signIn('device', body)).status).toBe(429)
    await scenario.clock.advance(1)
    expect((await signIn('device', body)).status).toBe(200)
  })

  it('[H-ADM-1] consumes nothing of a plan of which one rule is exhausted', async () => {
    const email = { email: 'ada@example.com', password: 'some password' }
    for (let i = 0; i < 3; i += 1) await signIn('email', email, { from: `203.0.113.${i}` })
    expect(await statuses(20, () => signIn('email', email))).toEqual(Array(20).fill(429))
    const input = { id: 'input', create: true, username: 'input' }
    await signIn('device', input)
    await signIn('device', input)
    expect(await statuses(20, () => signIn('device', input))).toEqual(Array(20).fill(429))
    expect(await statuses(4, () => stranger())).toEqual([401, 401, 401, 429])
  })

  it('[H-ADM-4] says when every window of the plan has rolled over, and nothing else', async () => {
    await scenario.clock.advance(10_001)
    const body = { id: 'x', create: true, username: 'x' }
    const email = { email: 'ada@example.com', password: 'some password' }
    for (let i = 0; i < 5; i += 1) await stranger()
    const bySource = [
      await stranger(),
      await signIn('email', email),
      await signIn('email', { ...email, create: true, username: 'ada' }),
      await signIn('custom', body),
    ]
    expect(bySource.map(retryAfter)).toEqual([50, 890, 3590, 3590])
    const other = { from: '203.0.113.1' }
    await signIn('device', body, other)
    await signIn('device', body, other)
    const byRegistration = await signIn('device', body, other)
    for (let i = 0; i < 3; i += 1) await signIn('email', email, { from: `203.0.113.2${i}` })
    const byEmail = await signIn('email', email, { from: '203.0.113.30' })
    expect([byRegistration, byEmail].map(retryAfter)).toEqual([3590, 890])
    for (const answer of [...bySource, byRegistration, byEmail]) {
      expect([answer.status, answer.body]).toEqual([429, refused])
      expect([...answer.headers.keys()].filter((name) => /limit/i.test(name))).toEqual([])
    }
    expect((await signIn('device', { id: 'x' }, other)).headers.has('retry-after')).toBe(false)
  })

  it('[H-ADM-1] [H-ADM-2] lets exactly the limit of 200 parallel requests on two nodes through', async () => {
    const nodes = [scenario.api, await scenario.openNode()]
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => stranger({ on: nodes[index % 2] ?? scenario.api })),
    )
    const found = answers.map(({ status }) => status)
    expect(found.filter((status) => status === 401)).toHaveLength(5)
    expect(found.filter((status) => status === 429)).toHaveLength(195)
    expect(nodes.flatMap(({ failures }) => failures)).toEqual([])
    const taken = (await scenario.rowsOf('admission_windows')).map((row) => Number(row.taken))
    expect(taken).toEqual([5])
  })

  it('[H-ADM-2] finds its counters by keyed hashes only', async () => {
    const body = { email: 'ada@example.com', password: 'some password' }
    await signIn('email', body)
    const { api, clock, db } = scenario
    const digests = async () =>
      (await scenario.rowsOf('admission_windows')).map(({ key_digest }) => {
        return Buffer.from(key_digest as Uint8Array).toString('hex')
      })
    const before = await digests()
    expect(new Set(before).size).toBe(2)
    await signIn('email', { ...body, email: 'bob@example.com' })
    const after = await digests()
    expect(after.filter((digest) => !before.includes(digest))).toHaveLength(1)
    const foreign = await openTestApi({ db, clock, admissionSecret: new Uint8Array(32).fill(1) })
    await foreign.call('POST', '/v1/auth/email', { body })
    await foreign.close()
    expect(await digests()).toHaveLength(5)
    expect(api.failures).toEqual([])
  })

  it('[H-ADM-2] keeps what it counted over a restart of a durable backend', async () => {
    for (let i = 0; i < 5; i += 1) await stranger()
    await scenario.restart()
    expect((await stranger()).status).toBe(backend.name === 'in-memory' ? 401 : 429)
  })

  it('[H-GEN-33] counts IPv6 sources by their /64 and IPv4 inside IPv6 as IPv4', async () => {
    const of = (source: string) => stranger({ from: source })
    for (let i = 0; i < 5; i += 1) await of(`2001:db8:0:1:${i}::1`)
    expect((await of('2001:DB8:0:1:ffff:ffff:ffff:ffff')).status).toBe(429)
    expect((await of('2001:db8:0:2::1')).status).toBe(401)
    expect((await of('2001:db8::')).status).toBe(401)
    for (let i = 0; i < 5; i += 1) await of('203.0.113.77')
    expect((await of('::ffff:203.0.113.77')).status).toBe(429)
    expect((await of('203.0.113.78')).status).toBe(401)
  })

  it.each(['custom', 'email'])(
    '[H-GEN-33] [H-ADM-3] counts IPv6 sources by their /64 at the method %s, too',
    async (method) => {
      const of = (source: string, n: number) => {
        const credential = { email: `${n}@example.com`, password: 'some password' }
        return signIn(method, method === 'email' ? credential : { id: 'x' }, { from: source })
      }
      expect(await statuses(6, (n) => of(`2001:db8:0:1:${n}::1`, n))).toEqual([
        ...Array(5).fill(401),
        429,
      ])
      expect((await of('2001:db8:0:2::1', 6)).status).toBe(401)
    },
  )

  it('[H-PUB-7] says how many signed in, failed, and were refused by a limit', async () => {
    const body = { id: 'metered', create: true, username: 'metered' }
    await signIn('device', body)
    await signIn('device', body)
    await signIn('device', { ...body, username: '' })
    for (let i = 0; i < 5; i += 1) await stranger()
    expect(scenario.api.counters()).toMatchObject({
      auth_success_total: 2,
      auth_failure_total: 3,
      admission_refused_total: 2,
    })
  })

  it('[H-ADM-6] has no limit on refresh, logout, lookup and account routes', async () => {
    const { token, refresh_token } = await scenario.signUp()
    const attempts = [
      ['GET', '/v1/account', { token }],
      ['PATCH', '/v1/account', { token, body: { display_name: 'Ada' } }],
      ['POST', '/v1/users/lookup', { token, body: { usernames: ['ada'] } }],
      ['POST', '/v1/session/refresh', { body: { refresh_token: `${refresh_token}x` } }],
      ['POST', '/v1/session/logout', {}],
    ] as const
    const before = await scenario.countRows('admission_windows')
    for (const [method, path, request] of attempts) {
      const found = await statuses(12, () => scenario.api.call(method, path, request))
      expect(new Set(found).size).toBe(1)
      expect(found).not.toContain(429)
    }
    expect(await scenario.countRows('admission_windows')).toBe(before)
  })

  it('[O-DB-3] keeps windows until a minute after their end', async () => {
    const prune = scenario.api.pruner('admission_windows')
    await stranger()
    await signIn('email', { email: 'ada@example.com', password: 'some password' })
    await scenario.clock.advance(60_000 + 60_000)
    expect(await prune(10)).toBe(0)
    await scenario.clock.advance(1)
    expect(await prune(10)).toBe(1)
    expect(await scenario.countRows('admission_windows')).toBe(1)
    await scenario.clock.advance(900_000)
    expect(await prune(10)).toBe(1)
  })
})

describe.each(testBackends)('admission without its database on $name', (backend) => {
  it('[H-ADM-7] answers 500 and lets nobody through', async () => {
    const scenario = await openScenario(backend)
    const { device } = await scenario.signUp()
    await scenario.db.close()
    const operator = { username: 'admin', password: 'password' }
    const answers = [
      await scenario.api.call('POST', '/v1/auth/device', { body: { id: device } }),
      await scenario.api.call('POST', '/v1/auth/email', {
        body: { email: 'a@b.c', password: 'some password' },
      }),
      await scenario.api.call('POST', '/console/v1/login', { body: operator }),
    ]
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        500,
        { code: 'internal_error', message: errorTable.internal_error.message },
      ])
    }
    expect(scenario.api.failures).toHaveLength(3)
    await scenario.dispose()
  })
})

describe('admission at password hashing', () => {
  it('[H-ADM-6] answers 429 with Retry-After 1 when the queue is full', async () => {
    const [inMemory] = testBackends
    if (inMemory === undefined) throw new Error('there is no backend')
    const scenario = await openScenario(inMemory, {
      'authentication.hashing.queue': '1',
      'authentication.hashing.concurrency': '1',
    })
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        scenario.api.call('POST', '/v1/auth/email', {
          body: { email: `full-${index}@example.com`, password: 'some password' },
        }),
      ),
    )
    const full = answers.filter(({ status }) => status === 429)
    expect(full.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30 - full.length)
    expect(new Set(full.map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['1']))
    await scenario.dispose()
  })
})
