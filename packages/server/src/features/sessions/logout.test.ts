import { errorTable, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }

type Sent = { token?: string; body?: unknown; headers?: Record<string, string> }

/** What names a session, by its pair. */
const naming: [string, (player: SessionTokens) => Sent][] = [
  ['the bearer', ({ token }) => ({ token })],
  ['the refresh token', ({ refresh_token }) => ({ body: { refresh_token } })],
  ['both of one session', ({ token, refresh_token }) => ({ token, body: { refresh_token } })],
  [
    'the bearer beside an unknown refresh token',
    ({ token }) => ({ token, body: { refresh_token: 'gh.refresh.none' } }),
  ],
  ['the bearer beside null', ({ token }) => ({ token, body: { refresh_token: null } })],
  [
    'the refresh token beside an unknown bearer',
    ({ refresh_token }) => ({ token: 'none', body: { refresh_token } }),
  ],
  [
    'the bearer, which is no refresh token, in both places',
    ({ token }) => ({ token, body: { refresh_token: token } }),
  ],
]

/** What names no session, or two; the pairs are of two players. */
const harmless: [string, (one: SessionTokens, other: SessionTokens) => Sent][] = [
  [
    'credentials of two sessions',
    (a, b) => ({
      token: a.token,
      body: { refresh_token: b.refresh_token },
    }),
  ],
  ['nothing', () => ({})],
  ['an empty body', () => ({ body: {} })],
  ['a body of no bytes', () => ({ body: '', headers: { 'content-type': 'text/plain' } })],
  ['null', () => ({ body: { refresh_token: null } })],
  ['an unknown bearer', () => ({ token: `gh.access.${'A'.repeat(43)}` })],
  ['a bearer of another kind', () => ({ token: 'svc_k1_x' })],
  ['a refresh token as bearer', (a) => ({ token: a.refresh_token })],
  ['an access token as refresh token', (a) => ({ body: { refresh_token: a.token } })],
  ['an unknown refresh token', () => ({ body: { refresh_token: 'x'.repeat(4096) } })],
]

const malformedBearers = [
  ['no scheme', 'gh.access.x'],
  ['another scheme', 'Basic Zm9v'],
  ['another case', 'bearer gh.access.x'],
  ['two spaces', 'Bearer  gh.access.x'],
  ['nothing behind the scheme', 'Bearer '],
  ['two words', 'Bearer a b'],
  ['4097 characters', `Bearer ${'x'.repeat(4097)}`],
]

const malformedSecrets = [
  ['empty', ''],
  ['blank', ' '],
  ['over 4096 bytes', 'x'.repeat(4097)],
  ['over 4096 bytes in fewer characters', 'é'.repeat(2049)],
  ['with white space', 'gh.refresh.a b'],
  ['with white space beyond ASCII', 'gh.refresh.a\u3000b'],
  ['with a line break', 'gh.refresh.a\n'],
  ['with a control character', 'gh.refresh.a\u0085'],
]

describe.each(testBackends)('logging out on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  const logout = (sent: Sent) => scenario.api.call('POST', '/v1/session/logout', sent)
  const isLive = async (token: string) =>
    (await scenario.api.call('GET', '/v1/account', { token })).status === 200
  const refresh = (refresh_token: string) =>
    scenario.api.call('POST', '/v1/session/refresh', { body: { refresh_token } })
  const revocations = () => scenario.countRows('session_revocations')

  it.each(naming)(
    '[H-PLY-13] ends exactly the session that %s names, once',
    async (_case, credentials) => {
      const player = await scenario.signUp()
      const login = await scenario.api.call('POST', '/v1/auth/device', {
        body: { id: player.device },
      })
      const other = SessionTokens().parse(login.body)
      const [announced, seen] = [await revocations(), scenario.api.revoked.length]
      for (const time of [1, 2]) {
        const answer = await logout(credentials(player))
        expect([time, answer.status, answer.text]).toEqual([time, 204, ''])
        expect([await isLive(player.token), await isLive(other.token)]).toEqual([false, true])
        expect(await revocations()).toBe(announced + 1)
        expect(scenario.api.revoked).toHaveLength(seen + 1)
      }
      expect((await refresh(player.refresh_token)).status).toBe(401)
      expect((await refresh(other.refresh_token)).status).toBe(200)
    },
  )

  it.each(harmless)('[H-PLY-13] answers 204 to %s and ends nothing', async (_case, credentials) => {
    const [a, b] = [await scenario.signUp(), await scenario.signUp()]
    const [announced, seen] = [await revocations(), scenario.api.revoked.length]
    const answer = await logout(credentials(a, b))
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect([await isLive(a.token), await isLive(b.token)]).toEqual([true, true])
    expect(await revocations()).toBe(announced)
    expect(scenario.api.revoked).toHaveLength(seen)
  })

  it('[H-PLY-13] ends nothing when the two sessions are of one account', async () => {
    const player = await scenario.signUp()
    const login = await scenario.api.call('POST', '/v1/auth/device', {
      body: { id: player.device },
    })
    const other = SessionTokens().parse(login.body)
    const body = { refresh_token: other.refresh_token }
    expect((await logout({ token: player.token, body })).status).toBe(204)
    expect([await isLive(player.token), await isLive(other.token)]).toEqual([true, true])
  })

  it('[H-PLY-13] ends a session whose access token has expired', async () => {
    const { token, refresh_token } = await scenario.signUp()
    await scenario.clock.advance(3_600_000)
    expect((await logout({ token })).status).toBe(204)
    expect((await refresh(refresh_token)).status).toBe(401)
  })

  it('[H-PLY-13] takes a rotated pair for unknown', async () => {
    const old = await scenario.signUp()
    const fresh = SessionTokens().parse((await refresh(old.refresh_token)).body)
    const { token, refresh_token } = old
    expect((await logout({ token, body: { refresh_token } })).status).toBe(204)
    expect(await isLive(fresh.token)).toBe(true)
  })

  it.each(malformedBearers)(
    '[H-PLY-12] answers a bearer with %s with 401, before it looks at the body',
    async (_case, authorization) => {
      const { refresh_token, token } = await scenario.signUp()
      for (const body of [{ refresh_token }, 'no json']) {
        const answer = await logout({ body, headers: { authorization } })
        expect([answer.status, answer.body]).toEqual([401, refused])
      }
      expect(await isLive(token)).toBe(true)
    },
  )

  it.each(malformedSecrets)(
    '[H-PLY-12] answers a refresh token that is %s with 401 and ends nothing',
    async (_case, refresh_token) => {
      const { token } = await scenario.signUp()
      const answer = await logout({ token, body: { refresh_token } })
      expect([answer.status, answer.body]).toEqual([401, refused])
      expect(await isLive(token)).toBe(true)
    },
  )

  it.each([
    '{',
    '[]',
    '"x"',
    '{"refresh_token":7}',
    '{"refresh_token":"x","more":1}',
    '{"refresh_token":"a","refresh_token":"b"}',
  ])('[H-PLY-12] answers the body %s with 400 and ends nothing', async (body) => {
    const { token } = await scenario.signUp()
    expect((await logout({ token, body })).status).toBe(400)
    expect(await isLive(token)).toBe(true)
  })

  it('[H-PLY-14] announces a session once, however many log it out at once', async () => {
    const { token, refresh_token } = await scenario.signUp()
    const [announced, seen] = [await revocations(), scenario.api.revoked.length]
    const body = { refresh_token }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => logout(index % 2 === 0 ? { token } : { body })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
    expect(await revocations()).toBe(announced + 1)
    expect(scenario.api.revoked).toHaveLength(seen + 1)
  })

  it('[H-PLY-10] leaves nothing live when a refresh and a logout meet', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { token, refresh_token } = await scenario.signUp()
      const [refreshed, ended] = await Promise.all([refresh(refresh_token), logout({ token })])
      expect(ended.status).toBe(204)
      if (refreshed.status !== 200) continue
      const fresh = SessionTokens().parse(refreshed.body)
      const revoked = scenario.api.revoked.length
      // Either the logout came first and the refresh found nothing, or it named a token that the
      // refresh had already replaced, and ended nothing.
      const live = await isLive(fresh.token)
      expect((await refresh(fresh.refresh_token)).status).toBe(live ? 200 : 401)
      expect(scenario.api.revoked).toHaveLength(revoked)
    }
  })
})
