import { errorTable, SessionTokens } from '@guildhall/contract'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { parsePhc } from '../../kernel/auth/phc.ts'
import type { ApiAnswer } from '../../testing/api.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { dump } from '../../testing/tables.ts'

const password = 'right horse battery'
const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }

/** What a password may be, and how a login with it is answered. */
const passwords = [
  ['8 bytes', 'abcdefgh', 401],
  ['8 bytes in fewer characters', 'éééé', 401],
  ['1024 bytes', 'x'.repeat(1024), 401],
  ['1024 bytes in fewer characters', '\u{1f3f0}'.repeat(256), 401],
  ['white space at both ends', '  abcd  ', 401],
  ['7 bytes', 'abcdefg', 400],
  ['nothing', '', 400],
  ['1025 bytes', 'x'.repeat(1025), 400],
  ['1025 bytes in fewer characters', `${'\u{1f3f0}'.repeat(256)}x`, 400],
  ['white space only', '\u3000'.repeat(8), 400],
  ['a control character', 'abcdefgh\n', 400],
  ['U+0000', 'abcdefgh\u0000', 400],
  ['U+0085', 'abcdefgh\u0085', 400],
  ['a number', 123456789, 400],
  ['null', null, 400],
]

describe.each(testBackends)('signing in by email on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  const signIn = (body: unknown): Promise<ApiAnswer> =>
    scenario.api.call('POST', '/v1/auth/email', { body })
  const register = (email: string, username: string) =>
    signIn({ email, password, username, create: true })
  const verifierOf = async (email: string) => {
    const [row] = await scenario.rowsOf('identities', `external_id = '${email}'`)
    return String(row?.password_verifier)
  }

  it('[H-PLY-5] takes every spelling of an address for the same one', async () => {
    const first = await register(' \tAda.Lovelace+Game@Example.COM\n', 'ada')
    expect(first.status).toBe(201)
    const { user_id } = SessionTokens().parse(first.body)
    const spellings = ['ada.lovelace+game@example.com', 'ADA.LOVELACE+GAME@EXAMPLE.COM']
    for (const email of [...spellings, ' ada.lovelace+game@example.com\u3000']) {
      const answer = await signIn({ email, password })
      expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ user_id })])
    }
    const [row] = await scenario.rowsOf('identities', `account_id = '${user_id}'`)
    expect(row?.external_id).toBe('ada.lovelace+game@example.com')
  })

  const longest = `${'l'.repeat(242)}@example.com`
  it.each(['a@b.c', '"@x.y', 'a@1.2', 'a@b..c', "o'neil%_{}@x-y.z", longest])(
    '[H-PLY-5] accepts the address %.20s',
    async (email) => {
      expect((await signIn({ email, password })).status).toBe(401)
    },
  )

  it.each([
    '',
    ' ',
    'nobody',
    '@example.com',
    'ada@',
    'ada@example',
    'ada@.example.com',
    'ada@example.com.',
    'ada@.',
    'a@b@c.d',
    'ada @example.com',
    'ada@exam\tple.com',
    'ada@exam\u0000ple.com',
    'ada@exam\u007fple.com',
    'ädä@example.com',
    'ada@exämple.com',
    // The Kelvin sign, which folds to an ASCII letter by any rule but that of ASCII.
    'ada\u212a@example.com',
    7,
    null,
    undefined,
    `l${longest}`,
  ])('[H-PLY-5] refuses the address %.20j', async (email) => {
    const answer = await signIn({ email, password, username: 'never', create: true })
    expect([answer.status, answer.body]).toEqual([
      400,
      { code: 'invalid_request', message: expect.stringContaining('email') },
    ])
  })

  it.each(passwords)(
    '[H-PLY-6] judges a password of %s at login too',
    async (_case, tried, status) => {
      const answer = await signIn({ email: 'bounds@example.com', password: tried })
      expect(answer.status).toBe(status)
      expect(answer.text).not.toContain('abcd')
    },
  )

  it('[H-PLY-6] does not normalise passwords', async () => {
    const composed = { email: 'norm@example.com', password: 'pässwörd' }
    await signIn({ ...composed, create: true, username: 'norm' })
    const decomposed = { ...composed, password: composed.password.normalize('NFD') }
    expect((await signIn(decomposed)).status).toBe(401)
    expect((await signIn({ ...composed, password: ' pässwörd' })).status).toBe(401)
    expect((await signIn({ ...composed, password: 'Pässwörd' })).status).toBe(401)
    expect((await signIn(composed)).status).toBe(200)
  })

  it('[H-PLY-6] refuses a wrong password whatever create is, and says no more than of a stranger', async () => {
    const email = 'known@example.com'
    expect((await register(email, 'known by mail')).status).toBe(201)
    const wrong = { email, password: 'wrong horse battery', username: 'other' }
    const stranger = { ...wrong, email: 'stranger@example.com' }
    for (const body of [wrong, { ...wrong, create: true }, { ...wrong, create: false }, stranger]) {
      const answer = await signIn(body)
      expect([answer.status, answer.body]).toEqual([401, refused])
    }
    const right = await signIn({ email, password, create: true, username: 'other' })
    expect(right.status).toBe(200)
    expect(right.body).toMatchObject({ username: 'known by mail', created: false })
  })

  it('[H-AUTH-4] spends one check of a password on a stranger as on a player', async () => {
    const { hashing } = scenario.api.features
    await register('counted@example.com', 'counted')
    const disabled = SessionTokens().parse((await register('off@example.com', 'off')).body)
    await scenario.setState(disabled.user_id, 'disabled')
    const spies = [
      vi.spyOn(hashing, 'verify'),
      vi.spyOn(hashing, 'verifyDummy'),
      vi.spyOn(hashing, 'hash'),
    ]
    const calls = () => spies.map(({ mock }) => mock.calls.length)
    const spent = async (body: object) => {
      for (const spy of spies) spy.mockClear()
      await signIn(body)
      return calls()
    }
    expect(await spent({ email: 'counted@example.com', password })).toEqual([1, 0, 0])
    expect(await spent({ email: 'counted@example.com', password: 'wrong one' })).toEqual([1, 0, 0])
    expect(await spent({ email: 'off@example.com', password })).toEqual([1, 0, 0])
    expect(await spent({ email: 'unknown@example.com', password })).toEqual([0, 1, 0])
    const request = { email: 'unknown@example.com', password, create: true }
    expect(await spent({ ...request, username: 'counted' })).toEqual([0, 0, 1])
    for (const spy of spies) spy.mockRestore()
  })

  it('[H-PLY-7] stores an Argon2id verifier with a salt of its own', async () => {
    await register('salt-1@example.com', 'salt-1')
    await register('salt-2@example.com', 'salt-2')
    const [one, other] = [
      await verifierOf('salt-1@example.com'),
      await verifierOf('salt-2@example.com'),
    ]
    expect(one).toMatch(/^\$argon2id\$v=19\$m=8192,t=1,p=1\$/)
    const [phc, second] = [parsePhc(one), parsePhc(other)]
    expect([phc?.salt.length, phc?.hash.length]).toEqual([16, 32])
    expect(phc?.salt).not.toEqual(second?.salt)
    expect(phc?.hash).not.toEqual(second?.hash)
  })

  it('[H-PLY-7] replaces a weaker verifier after a successful login only', async () => {
    const email = 'weak@example.com'
    await register(email, 'weak')
    const weak = await verifierOf(email)
    const stronger = await scenario.openNode({ 'authentication.hashing.iterations': '2' })
    const login = (body: object) => stronger.call('POST', '/v1/auth/email', { body })
    expect((await login({ email, password: 'wrong horse' })).status).toBe(401)
    expect(await verifierOf(email)).toBe(weak)
    expect((await login({ email, password })).status).toBe(200)
    const replaced = await verifierOf(email)
    expect(replaced).toMatch(/^\$argon2id\$v=19\$m=8192,t=2,p=1\$/)
    expect((await login({ email, password })).status).toBe(200)
    expect((await signIn({ email, password })).status).toBe(200)
    expect(await verifierOf(email)).toBe(replaced)
  })

  it('[H-PLY-7] lets a player in whose weaker verifier could not be replaced', async () => {
    const email = 'unlucky@example.com'
    await register(email, 'unlucky')
    const config = { 'authentication.hashing.iterations': '2' }
    const stronger = await scenario.openNode(config)
    const full = vi.spyOn(stronger.features.hashing, 'hash')
    full.mockRejectedValue(new Error('the queue is full'))
    const body = { email, password }
    expect((await stronger.call('POST', '/v1/auth/email', { body })).status).toBe(200)
    expect(full).toHaveBeenCalledOnce()
  })

  it('[H-ID-1] keeps no password, token or address-derived key in the clear', async () => {
    const operator = { username: 'admin', password: 'password' }
    const login = await scenario.api.call('POST', '/console/v1/login', { body: operator })
    const email = 'secretive@example.com'
    const answer = await register(email, 'secretive')
    const { token, refresh_token } = SessionTokens().parse(answer.body)
    await scenario.api.call('POST', '/v1/session/refresh', { body: { refresh_token } })
    await scenario.api.queues[0]?.flush(2000)
    const stored = await dump(scenario.db)
    expect(stored).toContain('secretive@example.com')
    const consoleToken = /"token":"(\w+)"/.exec(login.text)?.[1] ?? ''
    expect(consoleToken).toHaveLength(64)
    for (const secret of [password, token, refresh_token, consoleToken]) {
      const bare = secret.replace(/^gh\.\w+\./, '')
      expect(stored).not.toContain(bare)
      expect(stored).not.toContain(Buffer.from(bare, 'base64url').toString('hex'))
      expect(stored).not.toContain(Buffer.from(bare, 'base64url').toString('latin1'))
    }
    const windows = await scenario.rowsOf('admission_windows')
    expect(windows.length).toBeGreaterThan(0)
    for (const { key_digest } of windows) {
      expect(key_digest).toHaveLength(32)
      expect(Buffer.from(key_digest as Uint8Array).toString('latin1')).not.toContain('example')
    }
  })

  it('[H-PLY-7] admits nobody by a verifier that cannot be read', async () => {
    const email = 'broken@example.com'
    await register(email, 'broken')
    for (const verifier of ['', password, '$argon2id$v=19$m=8192,t=1,p=1$AAAA$AAAA']) {
      await scenario.db.run(setVerifier, { email, verifier })
      expect((await signIn({ email, password })).status).toBe(401)
    }
  })
})

const setVerifier = statement({
  name: 'tests.set-verifier',
  text: 'UPDATE identities SET password_verifier = :verifier WHERE external_id = :email',
  params: { email: 'text', verifier: 'text' },
})
