import { errorTable, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }
const taken = { code: 'conflict', message: 'username is taken' }

describe.each(testBackends)('signing in by id on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  const signIn = (method: string, body: unknown) =>
    scenario.api.call('POST', `/v1/auth/${method}`, { body })

  it('[H-PLY-1] answers 201 to a registration and 200 to a returning login', async () => {
    const first = await signIn('device', { id: 'one', create: true, username: 'first of all' })
    expect(first.status).toBe(201)
    const registered = SessionTokens().parse(first.body)
    expect(registered).toMatchObject({ username: 'first of all', created: true })
    expect(registered.user_id).toMatch(/^user-[0-9a-f]{32}$/)
    expect(registered.token).toMatch(/^gh\.access\.[\w-]{43}$/)
    expect(registered.refresh_token).toMatch(/^gh\.refresh\.[\w-]{43}$/)
    const again = await signIn('device', { id: 'one' })
    expect(again.status).toBe(200)
    const returning = SessionTokens().parse(again.body)
    expect(returning).toMatchObject({
      user_id: registered.user_id,
      username: 'first of all',
      created: false,
    })
    expect(returning.token).not.toBe(registered.token)
    expect(returning.refresh_token).not.toBe(registered.refresh_token)
  })

  it('[H-PLY-3] changes nothing of a known account, whatever the request says', async () => {
    const stored = { display_name: 'Before', metadata: { level: 1 } }
    const body = { id: 'known', create: true, username: 'known-before', ...stored }
    expect((await signIn('device', body)).status).toBe(201)
    const accounts = await scenario.countRows('accounts')
    const input = { username: 'known-after', display_name: 'After', metadata: { level: 2 } }
    const answer = await signIn('device', { id: 'known', create: true, ...input })
    expect(answer.status).toBe(200)
    const { token, ...session } = SessionTokens().parse(answer.body)
    expect(session).toMatchObject({ username: 'known-before', created: false })
    const profile = await scenario.api.call('GET', '/v1/account', { token })
    expect(profile.body).toEqual({
      user_id: session.user_id,
      username: 'known-before',
      display_name: 'Before',
    })
    expect(await scenario.countRows('accounts')).toBe(accounts)
  })

  it('[H-PLY-3] lets a known credential in that inputs for a username of another', async () => {
    const { username } = await scenario.signUp()
    await signIn('device', { id: 'wishful', create: true, username: 'wishful' })
    const answer = await signIn('device', { id: 'wishful', create: true, username })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ username: 'wishful', created: false })
  })

  it.each(['device', 'custom'])(
    '[H-PLY-4] refuses an unknown %s id without create and writes nothing',
    async (method) => {
      const before = await scenario.countRows('accounts')
      for (const body of [{ id: 'nobody' }, { id: 'nobody', create: false, username: 'nobody' }]) {
        const answer = await signIn(method, body)
        expect([answer.status, answer.body]).toEqual([401, refused])
      }
      expect(await scenario.countRows('accounts')).toBe(before)
    },
  )

  it('[H-PLY-4] keeps device ids, custom ids and emails apart', async () => {
    const id = 'shared@example.com'
    const email = { email: id, password: 'right horse battery' }
    const device = await signIn('device', { id, create: true, username: 'by device' })
    expect([device.status, (await signIn('custom', { id })).status]).toEqual([201, 401])
    expect((await signIn('email', email)).status).toBe(401)
    const custom = await signIn('custom', { id, create: true, username: 'by custom' })
    const mailed = await signIn('email', { ...email, create: true, username: 'by email' })
    expect([custom.status, mailed.status]).toEqual([201, 201])
    const users = [device, custom, mailed].map(({ body }) => SessionTokens().parse(body).user_id)
    expect(new Set(users).size).toBe(3)
  })

  it.each([
    ['device', {}],
    ['custom', {}],
    ['email', { email: 'latecomer@example.com', password: 'right horse battery' }],
  ])(
    '[H-PLY-4] answers 409 to a %s registration under an owned username and writes nothing',
    async (method, body) => {
      const { username } = await scenario.signUp()
      const tables = ['accounts', 'identities', 'sessions']
      const before = await Promise.all(tables.map(scenario.countRows))
      const credential = method === 'email' ? body : { id: 'latecomer' }
      const answer = await signIn(method, { ...credential, create: true, username })
      expect([answer.status, answer.body]).toEqual([409, taken])
      expect(await Promise.all(tables.map(scenario.countRows))).toEqual(before)
      expect((await signIn(method, credential)).status).toBe(401)
      const elsewhere = {
        ...credential,
        create: true,
        username: `${username} the second ${method}`,
      }
      expect((await signIn(method, elsewhere)).status).toBe(201)
    },
  )

  it('[H-PLY-4] compares usernames and ids exactly', async () => {
    for (const username of ['Ada', 'ada', ' ada', 'ada ', 'a\u0301da', 'áda']) {
      const answer = await signIn('custom', { id: `id of ${username}`, create: true, username })
      expect([username, answer.status]).toEqual([username, 201])
      expect(answer.body).toMatchObject({ username })
    }
    expect((await signIn('custom', { id: 'ID of Ada' })).status).toBe(401)
    expect((await signIn('custom', { id: ' id of Ada' })).status).toBe(401)
  })

  it.each(['disabled', 'tombstoned'] as const)(
    '[H-PLY-3] answers a %s account like an unknown one, and keeps its username reserved',
    async (state) => {
      const player = await scenario.signUp()
      await scenario.setState(player.user_id, state)
      for (const create of [false, true]) {
        const answer = await signIn('device', { id: player.device, create, username: 'other' })
        expect([answer.status, answer.body]).toEqual([401, refused])
      }
      const { username } = player
      const input = await signIn('device', { id: `after-${state}`, create: true, username })
      expect([input.status, input.body]).toEqual([409, taken])
    },
  )

  it('[H-PLY-4] makes a new account active, with updated_at equal to created_at', async () => {
    await scenario.clock.advance(1234)
    const metadata = '{"big":9223372036854775807,"nested":{"__proto__":[1.5,null]}}'
    const body = `{"id":"fresh","create":true,"username":"fresh","metadata":${metadata}}`
    const answer = await scenario.api.call('POST', '/v1/auth/device', { body })
    expect(answer.status).toBe(201)
    const [row] = await scenario.rowsOf('accounts', `username = 'fresh'`)
    const now = scenario.clock.nowUnixMs()
    expect(row).toMatchObject({ state: 'active', display_name: null, metadata })
    expect([row?.created_at_unix_ms, row?.updated_at_unix_ms].map(Number)).toEqual([now, now])
  })

  describe('[H-PLY-2] shapes', () => {
    const longest = 'é'.repeat(64)
    it.each([
      ['no id', { create: true, username: 'x' }],
      ['an id of another type', { id: 7 }],
      ['an empty id', { id: '' }],
      ['a blank id', { id: ' \u3000' }],
      ['an id of 129 bytes', { id: `${longest}a` }],
      ['an id with a control character', { id: 'a\u0085b' }],
      ['an id with U+0000', { id: 'a\u0000' }],
      ['create of another type', { id: 'x', create: 'true' }],
      ['create without a username', { id: 'x', create: true }],
      ['create with a null username', { id: 'x', create: true, username: null }],
      ['a blank username', { id: 'x', create: true, username: '  ' }],
      ['a username of 129 bytes', { id: 'x', username: `${longest}a` }],
      ['a username with a control character that is not used', { id: 'x', username: 'a\u007f' }],
      ['a blank display_name that is not used', { id: 'x', display_name: ' ' }],
      ['a display_name of 256 bytes', { id: 'x', display_name: 'd'.repeat(256) }],
      ['metadata that is no object', { id: 'x', metadata: [] }],
      ['metadata that is text', { id: 'x', metadata: 'text' }],
      ['an unknown field', { id: 'x', password: 'secret' }],
      ['a password of the email method', { email: 'a@b.c', password: '12345678', id: 'x' }],
    ])('refuses %s with 400', async (_case, body) => {
      for (const method of ['device', 'custom']) {
        const answer = await signIn(method, body)
        expect([answer.status, answer.body]).toEqual([
          400,
          { code: 'invalid_request', message: expect.any(String) },
        ])
      }
    })

    it('refuses create without a username also for a known credential', async () => {
      const { device } = await scenario.signUp()
      expect((await signIn('device', { id: device, create: true })).status).toBe(400)
      expect((await signIn('device', { id: device, username: ' ' })).status).toBe(400)
      expect((await signIn('device', { id: device })).status).toBe(200)
    })

    it('accepts every field at its greatest length', async () => {
      const body = { id: longest, username: longest, display_name: 'd'.repeat(255), metadata: {} }
      const answer = await signIn('custom', { ...body, create: true })
      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({ username: longest })
    })
  })
})
