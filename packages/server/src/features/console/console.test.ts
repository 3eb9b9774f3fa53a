import { auditApi, consoleApi, errorTable } from '@guildhall/contract'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { ApiAnswer, TestApi } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }
const admin = { username: 'admin', password: 'password' }
const wrong = { username: 'admin', password: 'wrong' }

type Login = (body: unknown, more?: { from?: string; on?: TestApi }) => Promise<ApiAnswer>

/** The login of a scenario's first node, from a source of one's choice. */
function loginOf(scenario: Scenario): Login {
  return (body, { from = '203.0.113.1', on = scenario.api } = {}) =>
    on.call('POST', '/console/v1/login', { body, headers: { 'x-forwarded-for': from } })
}

const tokenOf = ({ body }: ApiAnswer) => consoleApi.login.ok.parse(body).token

async function trailOf(scenario: Scenario, token: string, query = '') {
  const answer = await scenario.api.call('GET', `/console/v1/audit${query}`, { token })
  return auditApi.list.ok.parse(answer.body).entries
}

describe.each(testBackends)('the operators’ sign-in on $name', (backend) => {
  let scenario: Scenario
  let login: Login
  beforeEach(async () => {
    scenario = await openScenario(backend, {
      'console.viewer_username': 'watcher',
      'console.viewer_password': 'look but do not touch',
      'authentication.limits.console_login.limit': '3',
      'authentication.limits.console_login.window_ms': '300000',
      'authentication.limits.console_login_source.limit': '5',
      'authentication.limits.console_login_source.window_ms': '300000',
    })
    login = loginOf(scenario)
    return () => scenario.dispose()
  })
  const me = (token: string) => scenario.api.call('GET', '/console/v1/me', { token })

  it('[H-CON-1] exchanges the credentials of admin and viewer for a token of their role', async () => {
    const viewer = { username: 'watcher', password: 'look but do not touch' }
    for (const [body, role] of [
      [admin, 'admin'],
      [viewer, 'viewer'],
    ] as const) {
      const answer = await login(body)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const { token, ...rest } = consoleApi.login.ok.parse(answer.body)
      expect(token).toMatch(/^[0-9a-f]{64}$/)
      expect(rest).toEqual({ role, expires_in_sec: 3600 })
      expect((await me(token)).body).toEqual({ username: body.username, role })
    }
  })

  it('[H-CON-2] counts failures by source and username, and by source', async () => {
    const names = ['admin', 'admin', 'admin', 'admin', 'other', 'third', 'third']
    const statuses = []
    for (const username of names) statuses.push((await login({ ...wrong, username })).status)
    expect(statuses).toEqual([401, 401, 401, 429, 401, 401, 429])
    expect((await login(admin)).status).toBe(429)
    expect((await login({ username: 'watcher', password: 'look but do not touch' })).status).toBe(
      429,
    )
    expect((await login(admin, { from: '203.0.113.2' })).status).toBe(200)
    await scenario.clock.advance(299_999)
    expect((await login(admin)).status).toBe(429)
    await scenario.clock.advance(1)
    expect((await login(admin)).status).toBe(200)
  })

  it('[H-CON-2] refuses the right password too, and says when the window ends', async () => {
    await scenario.clock.advance(100_001)
    for (let i = 0; i < 3; i += 1) await login(wrong)
    const answer = await login(admin)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '200'])
    expect(answer.body).toEqual({ code: 'rate_limited', message: errorTable.rate_limited.message })
    expect((await login({ ...wrong, username: 'other' })).status).toBe(401)
  })

  it('[H-CON-2] counts no successful login', async () => {
    for (let i = 0; i < 12; i += 1) expect((await login(admin)).status).toBe(200)
    // What was given back is written a moment later.
    await expect
      .poll(async () => {
        const windows = await scenario.rowsOf('admission_windows')
        return windows.map(({ taken }) => Number(taken))
      })
      .toEqual([0, 0])
    for (let i = 0; i < 2; i += 1) expect((await login(wrong)).status).toBe(401)
    expect((await login(admin)).status).toBe(200)
    expect((await login(wrong)).status).toBe(401)
    expect((await login(admin)).status).toBe(429)
  })

  it('[H-CON-2] lets exactly the limit of parallel guesses on two nodes through', async () => {
    const nodes = [scenario.api, await scenario.openNode()]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        login(wrong, { on: nodes[index % 2] ?? scenario.api }),
      ),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(37)
  })

  it('[H-CON-2] lets any number of right logins through at the same time', async () => {
    for (let i = 0; i < 2; i += 1) expect((await login(wrong)).status).toBe(401)
    const answers = await Promise.all(Array.from({ length: 20 }, () => login(admin)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await login(wrong)).status).toBe(401)
    expect((await login(admin)).status).toBe(429)
  })

  it('[H-CON-3] audits logins and failed logins, and no refusal by a limit', async () => {
    const presented = `adm\u0007in-${'é'.repeat(70)}`
    await login({ username: presented, password: 'wrong' }, { from: '203.0.113.8' })
    for (let i = 0; i < 6; i += 1) await login(wrong)
    const viewer = { username: 'watcher', password: 'look but do not touch' }
    const token = tokenOf(await login(viewer, { from: '203.0.113.9' }))
    const human = { actor_type: 'human', target: 'console' }
    const time_unix_ms = scenario.clock.nowUnixMs()
    const failed = { ...human, action: 'console.login_failed', role: '-', time_unix_ms }
    const details = 'invalid credentials'
    expect(await trailOf(scenario, token)).toEqual([
      {
        ...human,
        action: 'console.login',
        actor: 'watcher',
        role: 'viewer',
        details: 'role=viewer',
        time_unix_ms,
      },
      ...Array(3).fill({ ...failed, actor: 'admin', details }),
      { ...failed, actor: `adm?in-${'é'.repeat(60)}`, details },
    ])
  })

  it('[H-CON-4] ends a token to the millisecond, without sliding', async () => {
    const token = tokenOf(await login(admin))
    await scenario.clock.advance(3_599_999)
    expect((await me(token)).status).toBe(200)
    await scenario.clock.advance(1)
    const answer = await me(token)
    expect([answer.status, answer.body]).toEqual([401, refused])
  })

  const logout = (token: string) => scenario.api.call('POST', '/console/v1/logout', { token })

  it('[H-OPS-2] ends one token at once, of either role, and records it', async () => {
    const viewer = { username: 'watcher', password: 'look but do not touch' }
    const others = [tokenOf(await login(admin)), tokenOf(await login(viewer))]
    const [first = ''] = others
    for (const body of [admin, viewer]) {
      const token = tokenOf(await login(body))
      const answer = await logout(token)
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect((await me(token)).body).toEqual(refused)
      expect((await logout(token)).status).toBe(401)
    }
    for (const token of others) expect((await me(token)).status).toBe(200)
    const entries = await trailOf(scenario, first, '?action=console.logout')
    const recorded = { actor_type: 'human', action: 'console.logout', target: 'console' }
    expect(entries).toMatchObject([
      { ...recorded, actor: 'watcher', role: 'viewer', details: 'role=viewer' },
      { ...recorded, actor: 'admin', role: 'admin', details: 'role=admin' },
    ])
    expect(entries).toHaveLength(2)
  })

  it('[H-OPS-2] [H-IDM-1] takes no notice of an Idempotency-Key', async () => {
    const token = tokenOf(await login(admin))
    const headers = { 'idempotency-key': 'no key, with spaces' }
    const answer = await scenario.api.call('POST', '/console/v1/logout', { token, headers })
    expect(answer.status).toBe(204)
    expect(await scenario.countRows('idempotency_records')).toBe(0)
  })

  it('[H-CON-4] [O-NOD-2] keeps tokens in the process: no other node and no restart knows them', async () => {
    const token = tokenOf(await login(admin))
    const other = await scenario.openNode()
    expect((await other.call('GET', '/console/v1/me', { token })).status).toBe(401)
    await scenario.restart()
    expect((await me(token)).status).toBe(401)
  })

  it('[H-AUTH-3] answers every bearer that is no live console token with the one 401', async () => {
    const { token: player } = await scenario.signUp()
    const token = tokenOf(await login(admin))
    const near = [`${token}0`, token.slice(1), token.toUpperCase(), `svc_${token}`]
    const key = `svc_k1_${'0'.repeat(32)}_${'A'.repeat(43)}`
    for (const tried of [...near, player, key, 'a'.repeat(64), 'admin:password']) {
      for (const path of ['me', 'audit', 'audit?unknown=1', 'config']) {
        const answer = await scenario.api.call('GET', `/console/v1/${path}`, { token: tried })
        expect([answer.status, answer.body]).toEqual([401, refused])
      }
    }
    expect((await scenario.api.call('GET', '/console/v1/me')).body).toEqual(refused)
    expect((await me(token)).status).toBe(200)
  })
})

describe.each(testBackends)('refused logins on $name', (backend) => {
  let scenario: Scenario
  let login: Login
  beforeAll(async () => {
    const viewer_password = 'look but do not touch'
    scenario = await openScenario(backend, {
      'console.viewer_password': viewer_password,
      'console.viewer_username': 'watcher',
    })
    login = loginOf(scenario)
    return () => scenario.dispose()
  })

  it.each([
    ['a wrong password', wrong],
    ['a wrong username', { ...admin, username: 'root' }],
    ['the username of the other', { ...admin, username: 'watcher' }],
    ['the password of the other', { ...admin, password: 'look but do not touch' }],
    ['another case', { ...admin, username: 'Admin' }],
    ['white space', { ...admin, password: 'password ' }],
    ['nothing', { username: '', password: '' }],
    ['1024 bytes each', { username: 'é'.repeat(512), password: 'é'.repeat(512) }],
  ])('[H-CON-1] answers %s with the one 401', async (_case, body) => {
    const answer = await login(body)
    expect([answer.status, answer.body]).toEqual([401, refused])
  })

  it.each([
    ['no password', { username: 'admin' }],
    ['no username', { password: 'password' }],
    ['null', { username: 'admin', password: null }],
    ['a number', { username: 'admin', password: 5 }],
    ['an unknown field', { ...admin, role: 'admin' }],
    ['1025 bytes', { ...admin, username: `${'é'.repeat(512)}x` }],
    ['U+0000', { ...admin, username: 'admin\u0000' }],
    ['no JSON', 'username=admin'],
  ])('[H-CON-3] answers %s with 400, which neither counts nor is audited', async (_case, body) => {
    const from = '203.0.113.99'
    const recorded = (await trailOf(scenario, tokenOf(await login(admin)))).length
    // The counters of earlier logins are stored by now: the entry of this one came behind them.
    const before = await scenario.countRows('admission_windows')
    expect((await login(body, { from })).status).toBe(400)
    expect(await scenario.countRows('admission_windows')).toBe(before)
    expect(await trailOf(scenario, tokenOf(await login(admin)))).toHaveLength(recorded + 1)
  })

  it('[H-CON-1] [H-GEN-3] names the rule that was broken, bytes or U+0000', async () => {
    const message = 'password must be at most 1024 bytes without U+0000'
    for (const password of ['\0', 'x'.repeat(1025)]) {
      const { body } = await login({ ...admin, password })
      expect(body).toEqual({ code: 'invalid_request', message })
    }
  })
})

describe('the operators’ credentials', () => {
  const [inMemory] = testBackends
  async function open(config: Record<string, string>) {
    if (inMemory === undefined) throw new Error('there is no backend')
    return openScenario(inMemory, config)
  }
  /** A verifier of the word given, cheap to check. */
  async function verifierOf(password: string): Promise<string> {
    const scenario = await open({})
    const verifier = await scenario.api.features.hashing.hash(password)
    await scenario.dispose()
    return verifier
  }
  const roleOf = ({ body, status }: ApiAnswer) =>
    status === 200 ? consoleApi.login.ok.parse(body).role : status

  it('[H-CON-1] may share one username, which is the default of the viewer', async () => {
    const scenario = await open({ 'console.viewer_password': 'seen' })
    const login = loginOf(scenario)
    expect(roleOf(await login(admin))).toBe('admin')
    expect(roleOf(await login({ ...admin, password: 'seen' }))).toBe('viewer')
    expect(roleOf(await login({ ...admin, password: 'neither' }))).toBe(401)
    await scenario.dispose()
  })

  it('[H-CON-1] leave no viewer where none has a password', async () => {
    const scenario = await open({ 'console.viewer_username': 'watcher' })
    const login = loginOf(scenario)
    for (const password of ['', 'undefined', 'password']) {
      expect(roleOf(await login({ username: 'watcher', password }))).toBe(401)
    }
    await scenario.dispose()
  })

  it('[O-SEC-6] may be verifiers, which are no passwords themselves', async () => {
    const [adminVerifier, viewerVerifier] = [await verifierOf('first'), await verifierOf('second')]
    const scenario = await open({
      'console.password': adminVerifier,
      'console.viewer_password': viewerVerifier,
    })
    const login = loginOf(scenario)
    const roles = []
    for (const password of ['first', 'second', 'third', adminVerifier, viewerVerifier, '']) {
      roles.push(roleOf(await login({ username: 'admin', password })))
    }
    expect(roles).toEqual(['admin', 'viewer', 401, 401, 401, 401])
    await scenario.dispose()
  })

  it('[H-CON-4] keep at most 1,000 tokens alive; the oldest goes first', async () => {
    const scenario = await open({})
    const login = loginOf(scenario)
    const tokens: string[] = []
    for (let i = 0; i < 1000; i += 1) tokens.push(tokenOf(await login(admin)))
    const isLive = async (token = '') =>
      (await scenario.api.call('GET', '/console/v1/me', { token })).status === 200
    expect(await Promise.all([tokens[0], tokens[1], tokens[999]].map(isLive))).toEqual([
      true,
      true,
      true,
    ])
    tokens.push(tokenOf(await login(admin)))
    expect(await Promise.all([tokens[0], tokens[1], tokens[1000]].map(isLive))).toEqual([
      false,
      true,
      true,
    ])
    await scenario.dispose()
  })
})
