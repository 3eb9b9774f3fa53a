import { scopes } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type KeyOperator, madeOf, openKeyOperator, signIn } from './api-keys.fixture.ts'

const unknownId = '0'.repeat(32)
const conflict = (message: string) => ({ code: 'conflict', message })

describe.each(testBackends)('API keys on $name', (backend) => {
  let scenario: Scenario
  let operator: KeyOperator
  let viewer: string
  beforeAll(async () => {
    scenario = await openScenario(backend, {
      'console.viewer_username': 'watcher',
      'console.viewer_password': 'look but do not touch',
    })
    operator = await openKeyOperator(scenario.api)
    viewer = await signIn(scenario.api, {
      username: 'watcher',
      password: 'look but do not touch',
    })
    return () => scenario.dispose()
  })
  const stored = (id: string) => scenario.rowsOf('api_keys', `id = '${id}'`)

  it('[H-KEY-1] [H-ID-1] makes a key whose value has the one format', async () => {
    const expires_at = scenario.clock.nowUnixMs() + 1
    const body = { name: ' monitoring\n', scopes: ['errors:read', 'telemetry:read'], expires_at }
    const answer = await operator.post('', body)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { key, secret } = madeOf(answer, 201)
    expect(answer.body).toEqual({ key, secret })
    expect(key).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'monitoring',
      scopes: ['telemetry:read', 'errors:read'],
      generation: 1,
      created_at: scenario.clock.nowUnixMs(),
      expires_at,
      revoked_at: null,
      last_used_at: null,
      status: 'active',
    })
    expect(secret).toMatch(new RegExp(`^svc_k1_${key.id}_[A-Za-z0-9_-]{43}$`))
    expect(await operator.get(key.id)).toEqual(key)
    expect(await operator.list()).toContainEqual(key)
  })

  it('[H-KEY-1] merges scopes, keeps the order of the interface, and needs no unique name', async () => {
    const twice = await operator.make({ scopes: ['logs:read', 'audit:read', 'logs:read'] })
    expect(twice.key.scopes).toEqual(['audit:read', 'logs:read'])
    const all = await operator.make({ scopes: scopes.toReversed() })
    expect(all.key.scopes).toEqual(scopes)
    expect(all.key.name).toBe(twice.key.name)
    expect(all.key.id).not.toBe(twice.key.id)
    for (const expires_at of [null, undefined]) {
      const made = await operator.make(expires_at === undefined ? {} : { expires_at })
      expect(made.key.expires_at).toBeNull()
    }
  })

  it('[H-KEY-1] takes names of 1 to 128 bytes after trimming', async () => {
    for (const name of ['x', 'é'.repeat(64), `  ${'x'.repeat(128)}  `, 'a b', 'a"\\<>%_']) {
      expect((await operator.make({ name })).key.name).toBe(name.trim())
    }
    // White space is what Unicode says: it has U+0085 and not the byte order mark.
    expect((await operator.make({ name: '\u0085\n\ufeffci\u2003' })).key.name).toBe('\ufeffci')
  })

  const fine = { name: 'ci', scopes: ['audit:read'] }
  it.each<[string, unknown]>([
    ['no name', { scopes: ['audit:read'] }],
    ['a null name', { ...fine, name: null }],
    ['a name that is no text', { ...fine, name: 1 }],
    ['an empty name', { ...fine, name: '' }],
    ['a blank name', { ...fine, name: ' \t\n ' }],
    ['a name of 129 bytes', { ...fine, name: `${'é'.repeat(64)}x` }],
    ['a control character within the name', { ...fine, name: 'a\tb' }],
    ['U+0085 within the name', { ...fine, name: 'c\u0085i' }],
    ['nothing but U+0085', { ...fine, name: '\u0085' }],
    ['no scopes', { name: 'ci' }],
    ['null for the scopes', { ...fine, scopes: null }],
    ['an empty list of scopes', { ...fine, scopes: [] }],
    ['an unknown scope', { ...fine, scopes: ['audit:read', 'audit:write'] }],
    ['a scope of another case', { ...fine, scopes: ['Audit:read'] }],
    ['a wildcard', { ...fine, scopes: ['*'] }],
    ['scopes that are no list', { ...fine, scopes: 'audit:read' }],
    ['18 scopes', { ...fine, scopes: [...scopes, 'audit:read'] }],
    ['an expiry that is no integer', { ...fine, expires_at: 1e15 + 0.5 }],
    ['an expiry that is a text', { ...fine, expires_at: '9999999999999' }],
    ['an expiry beyond 2^53 - 1', { ...fine, expires_at: 2 ** 53 }],
    ['a negative expiry', { ...fine, expires_at: -1 }],
    ['an expiry long ago', { ...fine, expires_at: 0 }],
    ['an id', { ...fine, id: unknownId }],
    ['a generation', { ...fine, generation: 1 }],
    ['no object', []],
    ['no JSON', '{"name":'],
  ])('[H-KEY-1] refuses %s', async (_case, body) => {
    const before = await scenario.countRows('api_keys')
    const trail = await operator.trail()
    const answer = await operator.post('', body)
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
    expect(await scenario.countRows('api_keys')).toBe(before)
    expect(await operator.trail()).toEqual(trail)
  })

  it('[H-KEY-1] refuses an expiry that is not greater than now', async () => {
    const answer = await operator.post('', { ...fine, expires_at: scenario.clock.nowUnixMs() })
    const message = 'expires_at must be in the future'
    expect([answer.status, answer.body]).toEqual([400, { code: 'invalid_request', message }])
  })

  it('[H-KEY-2] lists the newest first, then by id, without paging', async () => {
    await scenario.clock.advance(1)
    const first = await Promise.all(Array.from({ length: 12 }, () => operator.make({})))
    await scenario.clock.advance(1)
    const second = await Promise.all(Array.from({ length: 12 }, () => operator.make({})))
    const idsOf = (keys: { key: { id: string } }[]) => keys.map(({ key }) => key.id).sort()
    const keys = await operator.list()
    const newest = keys.slice(0, 24).map(({ id }) => id)
    expect(newest).toEqual([...idsOf(second), ...idsOf(first)])
    expect(keys).toHaveLength(await scenario.countRows('api_keys'))
  })

  it.each([
    ['GET', ''],
    ['POST', '/rotate'],
    ['POST', '/revoke'],
  ])(
    '[H-KEY-2] [H-KEY-3] [H-GEN-6] %s {id}%s refuses malformed ids before it looks at a body',
    async (method, rest) => {
      const { key } = await operator.make({})
      for (const id of [
        key.id.toUpperCase().replace('0', 'A'),
        'x',
        `${key.id}0`,
        'g'.repeat(32),
      ]) {
        const path = `/console/v1/api-keys/${id}${rest}`
        const answer = await operator.api.call(method, path, {
          token: operator.token,
          ...(method === 'POST' && { body: { generation: 1 } }),
        })
        expect([answer.status, answer.body]).toMatchObject([
          400,
          { message: 'id must be 32 lower-case hex digits' },
        ])
      }
      const path = `/console/v1/api-keys/${unknownId}${rest}`
      const body = method === 'POST' ? { body: { generation: 1 } } : {}
      const answer = await operator.api.call(method, path, { token: operator.token, ...body })
      expect([answer.status, answer.body]).toEqual([
        404,
        { code: 'not_found', message: 'not found' },
      ])
    },
  )

  it.each(['rotate', 'revoke'] as const)(
    '[H-KEY-3] [H-KEY-4] %s answers 400 before 404 before 409',
    async (what) => {
      const { key } = await operator.make({})
      const row = await stored(key.id)
      const trail = await operator.trail()
      for (const generation of [0, -1, 1.5, '1', null, true, undefined, 2 ** 53, [1]]) {
        for (const id of [key.id, unknownId]) {
          expect((await operator[what](id, generation)).status).toBe(400)
        }
      }
      const extra = await operator.post(`/${key.id}/${what}`, { generation: 1, id: key.id })
      expect(extra.status).toBe(400)
      expect((await operator[what](unknownId, 7)).status).toBe(404)
      const stale = await operator[what](key.id, 2)
      expect([stale.status, stale.body]).toEqual([
        409,
        conflict('generation is not the current one'),
      ])
      expect(await stored(key.id)).toEqual(row)
      expect(await operator.trail()).toEqual(trail)
    },
  )

  it('[H-KEY-3] [H-KEY-4] lives from creation over rotations to revocation', async () => {
    const made = await operator.make({
      name: 'life',
      expires_at: scenario.clock.nowUnixMs() + 10_000,
    })
    const { id } = made.key
    await operator.me(made.secret)
    const used = await operator.get(id)
    expect(used.last_used_at).toBe(scenario.clock.nowUnixMs())
    await scenario.clock.advance(10)
    const rotated = madeOf(await operator.rotate(id, 1), 200)
    expect(rotated.key).toEqual({ ...used, generation: 2 })
    expect(rotated.secret).toMatch(new RegExp(`^svc_k1_${id}_`))
    expect(rotated.secret).not.toBe(made.secret)
    const again = madeOf(await operator.rotate(id, 2), 200)
    expect(again.key.generation).toBe(3)

    await scenario.clock.advance(10)
    const revoked = await operator.revoke(id, 3)
    const metadata = { ...again.key, status: 'revoked', revoked_at: scenario.clock.nowUnixMs() }
    expect([revoked.status, revoked.body]).toEqual([200, metadata])
    await scenario.clock.advance(10)
    const repeated = await operator.revoke(id, 3)
    expect([repeated.status, repeated.body]).toEqual([200, metadata])
    expect((await operator.revoke(id, 2)).status).toBe(409)
    const late = await operator.rotate(id, 3)
    expect([late.status, late.body]).toEqual([409, conflict('the key is revoked')])
    await scenario.clock.advance(10_000)
    expect(await operator.get(id)).toEqual(metadata)
  })

  it('[H-KEY-4] [H-KEY-5] an expired key can be revoked but not rotated', async () => {
    const { key } = await operator.make({ expires_at: scenario.clock.nowUnixMs() + 5 })
    await scenario.clock.advance(4)
    expect((await operator.get(key.id)).status).toBe('active')
    await scenario.clock.advance(1)
    expect((await operator.get(key.id)).status).toBe('expired')
    expect((await operator.list()).find(({ id }) => id === key.id)?.status).toBe('expired')
    const answer = await operator.rotate(key.id, 1)
    expect([answer.status, answer.body]).toEqual([409, conflict('the key has expired')])
    const revoked = await operator.revoke(key.id, 1)
    expect([revoked.status, revoked.body]).toEqual([
      200,
      { ...key, status: 'revoked', revoked_at: scenario.clock.nowUnixMs() },
    ])
  })

  it('[H-AUTH-5] [H-GEN-7] keeps viewers, players and strangers out before it reads anything', async () => {
    const { key } = await operator.make({})
    const { token: player } = await scenario.signUp()
    const before = await scenario.rowsOf('api_keys')
    const asked: [string, string][] = [
      ['GET', ''],
      ['GET', `/${key.id}`],
      ['GET', '/no id'],
      ['POST', ''],
      ['POST', `/${key.id}/rotate`],
      ['POST', `/${key.id}/revoke`],
      ['POST', '/no id/revoke'],
    ]
    for (const [method, rest] of asked) {
      const path = `/console/v1/api-keys${rest}`
      const body = method === 'POST' ? { body: '{broken' } : {}
      const statusFor = async (token?: string) =>
        (await operator.api.call(method, path, { ...body, ...(token && { token }) })).status
      expect([await statusFor(viewer), await statusFor(player), await statusFor()]).toEqual([
        403, 401, 401,
      ])
    }
    expect(await scenario.rowsOf('api_keys')).toEqual(before)
  })

  it('[H-KEY-7] [H-AUD-2] audits each mutation once, with the id of the key', async () => {
    const made = await operator.make({ name: 'a b', scopes: ['logs:read', 'audit:read'] })
    const target = made.key.id
    await operator.rotate(target, 1)
    await operator.rotate(target, 1)
    await operator.revoke(target, 1)
    await operator.revoke(target, 2)
    const human = { actor_type: 'human', actor: 'admin', role: 'admin', target }
    const time_unix_ms = scenario.clock.nowUnixMs()
    const trail = await operator.trail()
    expect(trail.filter((entry) => entry.target === target)).toEqual([
      { ...human, time_unix_ms, action: 'api_keys.revoke', details: 'name=a b generation=2' },
      { ...human, time_unix_ms, action: 'api_keys.rotate', details: 'name=a b generation=2' },
      {
        ...human,
        time_unix_ms,
        action: 'api_keys.create',
        details: 'name=a b generation=1 scopes=audit:read,logs:read',
      },
    ])
    expect(scenario.api.failures).toEqual([])
  })
})
