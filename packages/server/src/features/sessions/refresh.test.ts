import { errorTable, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { TestApi } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const accessMs = 3_600_000
const refreshMs = 2_592_000_000
const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }

describe.each(testBackends)('sessions and their refresh on $name', (backend) => {
  let scenario: Scenario
  /** Refuses every replay together with the session that it belongs to. */
  let strict: TestApi
  beforeAll(async () => {
    scenario = await openScenario(backend)
    strict = await scenario.openNode({ 'sessions.revoke_on_replay': 'true' })
    return () => scenario.dispose()
  })

  const refresh = (refresh_token: unknown, on: TestApi = scenario.api) =>
    on.call('POST', '/v1/session/refresh', { body: { refresh_token } })
  const isLive = async (token: string, on: TestApi = scenario.api) =>
    (await on.call('GET', '/v1/account', { token })).status === 200
  const sessionOf = async (user: string) => {
    const [row] = await scenario.rowsOf('sessions', `account_id = '${user}'`)
    return String(row?.id)
  }

  it('[H-PLY-1] answers with a pair say how long its access token lives, others do not', async () => {
    const body = { id: 'seen', create: true, username: 'seen' }
    const signIn = await scenario.api.call('POST', '/v1/auth/device', { body })
    expect(signIn.headers.get('x-access-expires-in')).toBe('3600')
    const fresh = await refresh(SessionTokens().parse(signIn.body).refresh_token)
    expect(fresh.headers.get('x-access-expires-in')).toBe('3600')
    const refusal = await refresh('unknown')
    expect(refusal.headers.has('x-access-expires-in')).toBe(false)
  })

  it('[H-PLY-10] rotates the pair, keeps the session, and stops both old tokens at once', async () => {
    const old = await scenario.signUp()
    const id = await sessionOf(old.user_id)
    const answer = await refresh(old.refresh_token)
    expect(answer.status).toBe(200)
    const fresh = SessionTokens().parse(answer.body)
    const { user_id, username } = old
    expect(fresh).toMatchObject({ user_id, username, created: false })
    expect(await isLive(old.token)).toBe(false)
    expect(await isLive(fresh.token)).toBe(true)
    expect(await sessionOf(user_id)).toBe(id)
    const replay = await refresh(old.refresh_token)
    expect([replay.status, replay.body]).toEqual([401, refused])
    expect(await isLive(fresh.token)).toBe(true)
    expect((await refresh(fresh.refresh_token)).status).toBe(200)
  })

  it('[H-PLY-10] shows the present username', async () => {
    const { token, refresh_token } = await scenario.signUp()
    await scenario.api.call('PATCH', '/v1/account', { token, body: { username: 'renamed' } })
    expect((await refresh(refresh_token)).body).toMatchObject({ username: 'renamed' })
  })

  it.each(['Bearer nonsense', 'Basic Zm9v', 'Bearer  two spaces', ''])(
    '[H-PLY-10] ignores the Authorization header %j',
    async (authorization) => {
      const { refresh_token } = await scenario.signUp()
      const answer = await scenario.api.call('POST', '/v1/session/refresh', {
        body: { refresh_token },
        headers: { authorization },
      })
      expect(answer.status).toBe(200)
    },
  )

  it('[H-PLY-10] answers everything that is no live refresh token with the same 401', async () => {
    const { token, refresh_token } = await scenario.signUp()
    const unknown = `gh.refresh.${'A'.repeat(43)}`
    const operator = 'a'.repeat(64)
    const wrong = ['', ' ', 'x', token, unknown, operator, 'x'.repeat(4097), 'é'.repeat(3000)]
    const near = [
      `${refresh_token}A`,
      ` ${refresh_token}`,
      refresh_token.slice(0, -1),
      `${refresh_token}\n`,
    ]
    for (const tried of [...wrong, ...near, refresh_token.toUpperCase()]) {
      const answer = await refresh(tried)
      expect([tried, answer.status, answer.body]).toEqual([tried, 401, refused])
    }
    expect(await isLive(token)).toBe(true)
  })

  it.each([
    {},
    { refresh_token: null },
    { refresh_token: 7 },
    [],
    { refresh_token: 'x', extra: 1 },
  ])('[H-GEN-8] answers the body %j with 400 before it looks at any token', async (body) => {
    const answer = await scenario.api.call('POST', '/v1/session/refresh', { body })
    expect(answer.status).toBe(400)
  })

  it.each([2, 50])('[H-PLY-10] lets one of %i refreshes at once win', async (number) => {
    const other = await scenario.openNode()
    const { refresh_token, token } = await scenario.signUp()
    const answers = await Promise.all(
      Array.from({ length: number }, (_, index) =>
        refresh(refresh_token, index % 2 === 0 ? scenario.api : other),
      ),
    )
    const winners = answers.filter(({ status }) => status === 200)
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array(number - 1).fill(401),
    ])
    expect(await isLive(token)).toBe(false)
    const [winner] = winners.map(({ body }) => SessionTokens().parse(body).token)
    expect(await isLive(winner ?? '')).toBe(true)
  })

  it('[H-PLY-10] gives each of many refreshes at once its own, beside one that is unusable', async () => {
    const players = await Promise.all(Array.from({ length: 20 }, () => scenario.signUp()))
    const tokens = [
      ...players.map(({ refresh_token }) => refresh_token),
      `gh.refresh.${'C'.repeat(43)}`,
    ]
    for (const on of [scenario.api, strict]) {
      const answers = await Promise.all(tokens.map((token) => refresh(token, on)))
      expect(answers.pop()?.status).toBe(401)
      for (const [at, { body }] of answers.entries()) {
        const { token, refresh_token, user_id, username } = SessionTokens().parse(body)
        const player = players[at]
        expect([user_id, username]).toEqual([player?.user_id, player?.username])
        expect(await isLive(token)).toBe(true)
        expect(await isLive(player?.token ?? '')).toBe(false)
        tokens[at] = refresh_token
      }
    }
    const [replayed = ''] = players.map(({ refresh_token }) => refresh_token)
    expect((await refresh(replayed, strict)).status).toBe(401)
    expect((await refresh(tokens[0], strict)).status).toBe(200)
  })

  it('[H-PLY-11] ends the session of a replayed token when it is configured to', async () => {
    const first = await scenario.signUp()
    const second = SessionTokens().parse((await refresh(first.refresh_token, strict)).body)
    const third = SessionTokens().parse((await refresh(second.refresh_token, strict)).body)
    const id = await sessionOf(first.user_id)
    expect((await refresh(`gh.refresh.${'B'.repeat(43)}`, strict)).status).toBe(401)
    expect(await isLive(third.token)).toBe(true)
    const replay = await refresh(first.refresh_token, strict)
    expect([replay.status, replay.body]).toEqual([401, refused])
    expect(await isLive(third.token)).toBe(false)
    expect((await refresh(third.refresh_token, strict)).status).toBe(401)
    expect(strict.revoked).toEqual([id])
    expect((await refresh(second.refresh_token, strict)).status).toBe(401)
    expect(strict.revoked).toEqual([id])
  })

  it('[H-PLY-11] only refuses the replay where it is not seen to', async () => {
    const first = await scenario.signUp()
    const second = SessionTokens().parse((await refresh(first.refresh_token, strict)).body)
    expect((await refresh(first.refresh_token)).status).toBe(401)
    expect(await isLive(second.token)).toBe(true)
  })

  it('[H-PLY-11] leaves the other sessions of the account alone', async () => {
    const player = await scenario.signUp()
    const login = await scenario.api.call('POST', '/v1/auth/device', {
      body: { id: player.device },
    })
    const other = SessionTokens().parse(login.body)
    await refresh(player.refresh_token, strict)
    await refresh(player.refresh_token, strict)
    expect(await isLive(other.token)).toBe(true)
  })

  it('[H-PLY-10] revokes the session of an account that is no longer active', async () => {
    const { refresh_token, token, user_id } = await scenario.signUp()
    const id = await sessionOf(user_id)
    await scenario.setState(user_id, 'disabled')
    const seen = scenario.api.revoked.length
    expect((await refresh(refresh_token)).status).toBe(401)
    expect(scenario.api.revoked.slice(seen)).toEqual([id])
    await scenario.setState(user_id, 'active')
    expect(await isLive(token)).toBe(false)
    expect((await refresh(refresh_token)).status).toBe(401)
    expect(scenario.api.revoked.slice(seen)).toEqual([id])
    expect(await scenario.rowsOf('session_revocations', `session_id = '${id}'`)).toHaveLength(1)
  })

  it('[H-PLY-1] ends an access token to the millisecond and a refresh token likewise', async () => {
    const player = await scenario.signUp()
    await scenario.clock.advance(accessMs - 1)
    expect(await isLive(player.token)).toBe(true)
    await scenario.clock.advance(1)
    expect(await isLive(player.token)).toBe(false)
    const late = SessionTokens().parse((await refresh(player.refresh_token)).body)
    await scenario.clock.advance(accessMs - 1)
    expect(await isLive(late.token)).toBe(true)
    await scenario.clock.advance(refreshMs - accessMs)
    const last = await refresh(late.refresh_token)
    expect(last.status).toBe(200)
    const { refresh_token } = SessionTokens().parse(last.body)
    await scenario.clock.advance(refreshMs)
    expect((await refresh(refresh_token)).status).toBe(401)
  })

  it('[H-AUTH-2] accepts access tokens only, and only as they were made', async () => {
    const { token, refresh_token } = await scenario.signUp()
    const wrong = [refresh_token, `${token}A`, token.slice(0, -1), token.toLowerCase()]
    for (const tried of [...wrong, token.replace('gh.access.', ''), 'svc_k1_x', 'x']) {
      const answer = await scenario.api.call('GET', '/v1/account', { token: tried })
      expect([answer.status, answer.body]).toEqual([401, refused])
    }
  })

  it('[H-AUTH-3] keeps players and operators apart', async () => {
    const { token } = await scenario.signUp()
    const body = { username: 'admin', password: 'password' }
    const login = await scenario.api.call('POST', '/console/v1/login', { body })
    const operator = /"token":"(\w+)"/.exec(login.text)?.[1] ?? ''
    const statuses = [
      await scenario.api.call('GET', '/console/v1/me', { token: operator }),
      await scenario.api.call('GET', '/console/v1/me', { token }),
      await scenario.api.call('GET', '/v1/account', { token: operator }),
      await scenario.api.call('GET', '/console/v1/me', { token: `svc_${operator}` }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([200, 401, 401, 401])
  })

  it('[H-PLY-14] works on every node of the database', async () => {
    const other = await scenario.openNode()
    const { token, refresh_token } = await scenario.signUp()
    expect(await isLive(token, other)).toBe(true)
    const fresh = SessionTokens().parse((await refresh(refresh_token, other)).body)
    expect([await isLive(token), await isLive(fresh.token)]).toEqual([false, true])
    await scenario.api.call('POST', '/v1/session/logout', { token: fresh.token })
    expect(await isLive(fresh.token, other)).toBe(false)
    expect((await refresh(fresh.refresh_token, other)).status).toBe(401)
  })
})

describe.each(testBackends)('sessions over a restart on $name', (backend) => {
  it('[H-PLY-14] keeps them on durable backends, and loses all in memory', async () => {
    const scenario = await openScenario(backend)
    const { token, device } = await scenario.signUp()
    const ended = await scenario.signUp()
    await scenario.api.call('POST', '/v1/session/logout', { token: ended.token })
    await scenario.restart()
    const kept = backend.name === 'in-memory' ? 401 : 200
    const { call } = scenario.api
    expect((await call('GET', '/v1/account', { token })).status).toBe(kept)
    expect((await call('GET', '/v1/account', { token: ended.token })).status).toBe(401)
    expect((await call('POST', '/v1/auth/device', { body: { id: device } })).status).toBe(kept)
    await scenario.dispose()
  })
})
