import { connect } from 'node:net'
import { accountsApi, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

describe.each(testBackends)('the account of a player on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  const patch = (token: string, body: unknown) =>
    scenario.api.call('PATCH', '/v1/account', { token, body })
  const lookup = (token: string, body: unknown) =>
    scenario.api.call('POST', '/v1/users/lookup', { token, body })
  const usersOf = ({ body }: { body: unknown }) =>
    accountsApi.lookup.ok.parse(body).users.map(({ user_id }) => user_id)
  const timesOf = async (id: string) => {
    const [row] = await scenario.rowsOf('accounts', `id = '${id}'`)
    return [Number(row?.created_at_unix_ms), Number(row?.updated_at_unix_ms)]
  }

  describe('PATCH /v1/account', () => {
    it('[H-PLY-8] changes what is sent, leaves the rest, and moves updated_at', async () => {
      const { token, user_id, username } = await scenario.signUp()
      const [createdAt] = await timesOf(user_id)
      await scenario.clock.advance(1000)
      const named = await patch(token, { display_name: 'Ada' })
      expect([named.status, named.body]).toEqual([200, { user_id, username, display_name: 'Ada' }])
      expect(await timesOf(user_id)).toEqual([createdAt, scenario.clock.nowUnixMs()])
      const renamed = await patch(token, { username: `${username} II` })
      expect(renamed.body).toEqual({ user_id, username: `${username} II`, display_name: 'Ada' })
      const cleared = await patch(token, { display_name: null })
      expect(cleared.body).toEqual({ user_id, username: `${username} II` })
      const both = await patch(token, { username, display_name: 'Countess' })
      expect(both.body).toEqual({ user_id, username, display_name: 'Countess' })
      const read = await scenario.api.call('GET', '/v1/account', { token })
      expect([read.status, read.body]).toEqual([200, both.body])
    })

    it('[H-PLY-8] takes null for username as absent, beside a display_name', async () => {
      const { token, username } = await scenario.signUp()
      const answer = await patch(token, { username: null, display_name: null })
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ username })
    })

    it('[H-PLY-8] accepts the own current username', async () => {
      const { token, username, user_id } = await scenario.signUp()
      await scenario.clock.advance(10)
      const answer = await patch(token, { username })
      expect([answer.status, answer.body]).toEqual([200, { user_id, username }])
      expect((await timesOf(user_id))[1]).toBe(scenario.clock.nowUnixMs())
    })

    it.each([
      ['nothing', {}],
      ['null for the username alone', { username: null }],
      ['an empty display_name', { display_name: '' }],
      ['a blank display_name', { display_name: '  ' }],
      ['a display_name of 256 bytes', { display_name: 'x'.repeat(256) }],
      ['a display_name that is no text', { display_name: 5 }],
      ['an empty username', { username: '' }],
      ['a username with a control character', { username: 'a\u0080b' }],
      ['a username of 130 bytes', { username: 'é'.repeat(65) }],
      ['metadata', { username: 'fine', metadata: {} }],
      ['a state', { username: 'fine', state: 'active' }],
      ['an id', { user_id: 'user-0' }],
      ['an array', []],
      ['null', null],
    ])('[H-PLY-8] refuses a patch with %s and changes nothing', async (_case, body) => {
      const { token, user_id } = await scenario.signUp()
      const before = await scenario.rowsOf('accounts', `id = '${user_id}'`)
      await scenario.clock.advance(10)
      const answer = await patch(token, body)
      expect(answer.status).toBe(400)
      expect(await scenario.rowsOf('accounts', `id = '${user_id}'`)).toEqual(before)
    })

    it('[H-PLY-8] answers 409 to a username of another account, also of one that is gone', async () => {
      const { token, user_id, username } = await scenario.signUp()
      const other = await scenario.signUp()
      for (const state of ['active', 'disabled', 'tombstoned'] as const) {
        await scenario.setState(other.user_id, state)
        const answer = await patch(token, { username: other.username, display_name: 'Thief' })
        expect([answer.status, answer.body]).toEqual([
          409,
          { code: 'conflict', message: 'username is taken' },
        ])
      }
      const read = await scenario.api.call('GET', '/v1/account', { token })
      expect(read.body).toEqual({ user_id, username })
    })

    it('[H-PLY-8] gives a username that many ask for at once to one of them', async () => {
      const players = []
      for (let i = 0; i < 10; i += 1) players.push(await scenario.signUp())
      const answers = await Promise.all(
        players.map(({ token }) => patch(token, { username: 'sought after' })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
    })
  })

  describe('POST /v1/users/lookup', () => {
    it('[H-PLY-9] answers in the order asked for, ids before names, each account once', async () => {
      const [a, b, c] = [await scenario.signUp(), await scenario.signUp(), await scenario.signUp()]
      const body = {
        user_ids: [c.user_id, a.user_id, c.user_id],
        usernames: [b.username, a.username, b.username],
      }
      const answer = await lookup(a.token, body)
      expect(answer.status).toBe(200)
      expect(usersOf(answer)).toEqual([c.user_id, a.user_id, b.user_id])
    })

    it('[H-PLY-9] shows the public profile and no more', async () => {
      const body = { id: 'shown', create: true, username: 'shown', metadata: { secret: 1 } }
      const session = await scenario.api.call('POST', '/v1/auth/device', { body })
      const { token, user_id } = SessionTokens().parse(session.body)
      const plain = await lookup(token, { usernames: ['shown'] })
      expect(plain.body).toEqual({ users: [{ user_id, username: 'shown' }] })
      await patch(token, { display_name: 'Shown' })
      const named = await lookup(token, { user_ids: [user_id] })
      expect(named.body).toEqual({
        users: [{ user_id, username: 'shown', display_name: 'Shown' }],
      })
    })

    it('[H-PLY-9] matches exactly and leaves out unknown and inactive accounts', async () => {
      const { token, user_id, username } = await scenario.signUp()
      const off = await scenario.signUp()
      const gone = await scenario.signUp()
      await scenario.setState(off.user_id, 'disabled')
      await scenario.setState(gone.user_id, 'tombstoned')
      const answer = await lookup(token, {
        user_ids: [off.user_id, gone.user_id, user_id.toUpperCase(), username, ' x', '%'],
        usernames: [off.username, gone.username, username.toUpperCase(), `${username} `, '_', '%'],
      })
      expect([answer.status, answer.body]).toEqual([200, { users: [] }])
    })

    it('[H-PLY-9] takes 1 to 100 keys in total, counted before duplicates are merged', async () => {
      const { token, user_id, username } = await scenario.signUp()
      const ids = (count: number) => Array<string>(count).fill(user_id)
      const names = (count: number) => Array<string>(count).fill(username)
      const statuses = await Promise.all(
        [
          { user_ids: ids(100) },
          { user_ids: ids(50), usernames: names(50) },
          { user_ids: ids(1) },
          { user_ids: null, usernames: names(1) },
          { user_ids: ids(101) },
          { user_ids: ids(50), usernames: names(51) },
          { usernames: names(101) },
          { user_ids: [], usernames: [] },
          {},
          { user_ids: [] },
        ].map(async (body) => (await lookup(token, body)).status),
      )
      expect(statuses).toEqual([200, 200, 200, 200, 400, 400, 400, 400, 400, 400])
    })

    it.each([
      ['a blank id', { user_ids: ['  '] }],
      ['an empty id', { user_ids: [''] }],
      ['an id with U+0000', { user_ids: ['a\u0000'] }],
      ['an id that is no text', { user_ids: [7] }],
      ['ids that are no array', { user_ids: 'user-1' }],
      ['an id of 1025 bytes', { user_ids: ['x'.repeat(1025)] }],
      ['a blank username', { usernames: [' '] }],
      ['a username with a control character', { usernames: ['a\u0007'] }],
      ['a username of 129 bytes', { usernames: ['x'.repeat(129)] }],
      ['an unknown field', { user_ids: ['x'], emails: ['a@b.c'] }],
    ])('[H-PLY-9] refuses %s', async (_case, body) => {
      const { token } = await scenario.signUp()
      expect((await lookup(token, body)).status).toBe(400)
    })
  })

  it.each(['disabled', 'tombstoned'] as const)(
    '[H-AUTH-2] refuses the live token of a %s account on every route',
    async (state) => {
      const player = await scenario.signUp()
      const { token, user_id } = player
      await scenario.setState(user_id, state)
      const answers = [
        await scenario.api.call('GET', '/v1/account', { token }),
        await patch(token, { display_name: 'Ghost' }),
        await lookup(token, { user_ids: [user_id] }),
        await patch(token, 'no json at all'),
      ]
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
      const [row] = await scenario.rowsOf('accounts', `id = '${user_id}'`)
      expect(row?.display_name).toBeNull()
    },
  )

  it('[H-AUTH-2] refuses a PATCH whose account is disabled while its body is on the way', async () => {
    const { token, user_id } = await scenario.signUp()
    const body = '{"display_name":"Ghost"}'
    const socket = connect(Number(new URL(scenario.api.url).port), '127.0.0.1')
    const send = (bytes: string) =>
      new Promise<string>((resolve) => {
        socket.once('data', (answer) => resolve(answer.toString('latin1')))
        socket.write(bytes)
      })
    const head = [
      'PATCH /v1/account HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ]
    expect(await send(`${head.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1.1 100 /)
    await scenario.setState(user_id, 'disabled')
    expect(await send(body)).toMatch(/^HTTP\/1.1 401 /)
    socket.destroy()
  })
})
