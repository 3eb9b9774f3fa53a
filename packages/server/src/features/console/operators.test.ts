import { auditApi, consoleApi, databaseApi } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const ana = { username: 'ana', password: 'a password of hers' }
const ben = { username: 'ben', password: 'a password of his' }
const eve = { username: 'Eve Adams', password: 'only looking' }

describe.each(testBackends)('[H-OPS-6] operators with names of their own on $name', (backend) => {
  let scenario: Scenario
  const asPerson: Record<string, Operator> = {}
  beforeAll(async () => {
    const bare = await openScenario(backend)
    const verifier = await bare.api.features.hashing.hash(ana.password)
    await bare.dispose()
    const operators = [
      { ...ana, password: verifier, role: 'admin' },
      { ...ben, role: 'admin' },
      { ...eve, role: 'viewer' },
    ]
    scenario = await openScenario(backend, {
      'console.operators': JSON.stringify(operators),
      'authentication.limits.console_login.limit': '3',
      'authentication.limits.console_login_source.limit': '100',
    })
    for (const person of [ana, ben, eve]) {
      asPerson[person.username] = await openOperator(scenario.api, person)
    }
    return () => scenario.dispose()
  })
  const as = ({ username }: { username: string }): Operator => {
    const operator = asPerson[username]
    if (operator === undefined) throw new Error(`${username} is not signed in`)
    return operator
  }
  const login = (body: unknown, source = '203.0.113.1') => {
    const headers = { 'x-forwarded-for': source }
    return scenario.api.call('POST', '/console/v1/login', { body, headers })
  }

  it('sign in beside the admin, each with a role, and are called by their names', async () => {
    for (const [person, role] of [
      [ana, 'admin'],
      [ben, 'admin'],
      [eve, 'viewer'],
      [{ username: 'admin', password: 'password' }, 'admin'],
    ] as const) {
      const { body } = await login(person)
      const { token, ...rest } = consoleApi.login.ok.parse(body)
      expect(rest).toEqual({ role, expires_in_sec: 3600 })
      const me = await scenario.api.call('GET', '/console/v1/me', { token })
      expect(me.body).toEqual({ username: person.username, role })
    }
  })

  it.each([
    ['the password of another person', { ...ana, password: ben.password }],
    ['the password of the admin', { ...ana, password: 'password' }],
    ['her password under the name of the admin', { ...ana, username: 'admin' }],
    ['another case', { ...ben, username: 'Ben' }],
    ['a name that nobody has', { ...ben, username: 'nobody' }],
    ['no password', { ...ben, password: '' }],
    ['no name', { ...ben, username: '' }],
  ])('[H-CON-1] are refused with %s', async (_case, body) => {
    expect((await login(body, `203.0.113.${body.username.length + 20}`)).status).toBe(401)
  })

  it('[H-CON-2] are locked out by name and source, like the others', async () => {
    const source = '203.0.113.77'
    for (let i = 0; i < 3; i += 1) {
      expect((await login({ ...ben, password: 'wrong' }, source)).status).toBe(401)
    }
    expect((await login(ben, source)).status).toBe(429)
    expect((await login(ana, source)).status).toBe(200)
    expect((await login(ben, '203.0.113.78')).status).toBe(200)
  })

  it('[H-AUTH-5] have what their role has', async () => {
    expect((await as(eve).send('GET', '/config')).status).toBe(200)
    expect((await as(eve).send('POST', '/groups', { name: 'no' })).status).toBe(403)
    expect((await as(eve).send('GET', '/api-keys')).status).toBe(403)
    expect((await as(ana).send('GET', '/api-keys')).status).toBe(200)
  })

  it('stand by name in the audit trail: sign-in, change, sign-out', async () => {
    const { token, send } = await openOperator(scenario.api, ben)
    expect((await send('POST', '/groups', { name: 'reds' })).status).toBe(201)
    expect((await send('POST', '/logout')).status).toBe(204)
    expect((await scenario.api.call('GET', '/console/v1/me', { token })).status).toBe(401)
    expect((await as(ben).send('GET', '/me')).status).toBe(200)
    const answer = await as(ana).send('GET', '/audit?actor=ben&limit=3')
    const entries = auditApi.list.ok.parse(answer.body).entries
    expect(entries.map(({ actor, role, action }) => [actor, role, action])).toEqual([
      ['ben', 'admin', 'console.logout'],
      ['ben', 'admin', 'groups.create'],
      ['ben', 'admin', 'console.login'],
    ])
  })

  it('[H-IDM-2] have requests of their own under one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'the-same' }
    const before = await scenario.countRows('notifications')
    for (const person of [ana, ben, ana, ben]) {
      const sent = await as(person).send('POST', '/notifications', { subject: 'news' }, headers)
      expect(sent.status).toBe(201)
    }
    expect(await scenario.countRows('notifications')).toBe(before + 2)
  })

  it('[H-CFG-2] are shown without their passwords', async () => {
    const { text } = await as(eve).send('GET', '/config')
    expect(text).toContain('username = \\"Eve Adams\\", password = \\"<redacted>\\"')
    for (const secret of [ben.password, eve.password, '$argon2id']) {
      expect(text).not.toContain(secret)
    }
  })

  it.skipIf(backend.name === 'in-memory')('[H-DBX-7] have handles of their own', async () => {
    for (const name of ['blues', 'greens']) await as(ana).send('POST', '/groups', { name })
    const tables = await as(ana).send('GET', '/database')
    const schema = databaseApi.tables.ok.parse(tables.body).tables[0]?.table.schema ?? ''
    const first = {
      table: { schema, table: 'groups' },
      sort: { column: 'id', direction: 'asc' },
      limit: 1,
    }
    const answer = await as(ana).send('POST', '/database/rows', first)
    const { next } = databaseApi.rows.ok.parse(answer.body)
    const more = { ...first, cursor: next }
    expect((await as(ben).send('POST', '/database/rows', more)).status).toBe(400)
    expect((await as(ana).send('POST', '/database/rows', more)).status).toBe(200)
  })

  it('[H-DBX-1] have minutes of the explorer of their own', async () => {
    await scenario.clock.advance(60_000)
    const ask = (person: { username: string }) => as(person).send('GET', '/database')
    for (let i = 0; i < 60; i += 1) await ask(ana)
    expect((await ask(ana)).status).toBe(429)
    expect((await ask(ben)).status).not.toBe(429)
  })
})
