import { createHash } from 'node:crypto'
import { api, consoleApi, errorTable, type Route, scopes } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestBackend, testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { dump } from '../../testing/tables.ts'
import { type KeyOperator, type MadeKey, madeOf, openKeyOperator } from './api-keys.fixture.ts'
import { formatKeyValue, parseKeyValue } from './api-keys.service.ts'

const refused = { code: 'authentication_failed', message: errorTable.authentication_failed.message }
const operatorRoutes = Object.values(api)
  .flatMap((rows): Route[] => Object.values(rows))
  .filter(({ access }) => access === 'operator' || access === 'admin')

describe('the value of a key', () => {
  const id = fc.string({
    unit: fc.constantFrom(...'0123456789abcdef'),
    minLength: 32,
    maxLength: 32,
  })
  const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))

  it('[H-ID-1] is read as it was written', () => {
    fc.assert(
      fc.property(id, secret, (id, secret) => {
        const value = formatKeyValue(id, secret)
        expect(value).toMatch(/^svc_k1_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/)
        expect(parseKeyValue(value)).toEqual({ id, secret })
      }),
    )
  })

  it('[H-ID-1] has one spelling: whatever else is sent is no key', () => {
    const unit = fc.constantFrom(...'svck1_-+/=AZaz09 \n\u0000é')
    const other = fc.oneof(unit, fc.string({ unit, maxLength: 90 }), fc.string())
    fc.assert(
      fc.property(
        id,
        secret,
        fc.oneof(fc.constant(82), fc.nat(82)),
        other,
        (id, secret, at, text) => {
          const value = formatKeyValue(id, secret)
          const changed = value.slice(0, at) + text + value.slice(at + text.length)
          const parsed = parseKeyValue(changed)
          if (parsed !== undefined) expect(formatKeyValue(parsed.id, parsed.secret)).toBe(changed)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

/** All routes where a request costs least; how they ask a store is the same on each of them. */
const routesOn = ({ name }: TestBackend) =>
  name === 'in-memory' ? operatorRoutes : operatorRoutes.filter((_, at) => at % 20 === 0)

describe.each(testBackends)('the credential of a machine on $name', (backend) => {
  let scenario: Scenario
  let operator: KeyOperator
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openKeyOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-CON-5] says to a machine who it is', async () => {
    const { key, secret } = await operator.make({ name: 'ci', scopes: ['logs:read', 'audit:read'] })
    const answer = await operator.me(secret)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        actor_type: 'api_key',
        credential_id: key.id,
        key_name: 'ci',
        scopes: ['audit:read', 'logs:read'],
        generation: 1,
      },
    ])
    const second = madeOf(await operator.rotate(key.id, 1), 200)
    const { generation } = consoleApi.me.ok.parse((await operator.me(second.secret)).body) as {
      generation: number
    }
    expect(generation).toBe(2)
  })

  it('[H-AUTH-6] [H-KEY-5] one 401 for whatever is no active key, on every route', async () => {
    const soon = scenario.clock.nowUnixMs() + 1
    const [active, rotated, revoked] = [
      await operator.make({ scopes }),
      await operator.make({ scopes }),
      await operator.make({ scopes }),
    ]
    const expired = await operator.make({ scopes, expires_at: soon })
    await scenario.clock.advance(1)
    await operator.rotate(rotated.key.id, 1)
    await operator.revoke(revoked.key.id, 1)
    const [id, secret] = [active.key.id, active.secret.slice(-43)]
    const values = {
      'of an old generation': rotated.secret,
      revoked: revoked.secret,
      expired: expired.secret,
      'of an unknown id': `svc_k1_${'0'.repeat(32)}_${secret}`,
      'with the secret of another': `svc_k1_${rotated.key.id}_${secret}`,
      'with another spelling of its secret': otherSpelling(active.secret),
      'with an id in upper case': `svc_k1_${id.replace(/[a-f]/, (x) => x.toUpperCase())}_${secret}`,
      'of another format': `svc_k2_${id}_${secret}`,
      'in upper case': active.secret.toUpperCase(),
      'too short': active.secret.slice(0, -1),
      'too long': `${active.secret}A`,
      'without a secret': `svc_k1_${id}_`,
      'its id alone': id,
      'its secret alone': secret,
      'the marker alone': 'svc_',
    }
    const trail = await operator.trail('console.read')
    const seen = new Set<string>()
    for (const route of routesOn(backend)) {
      const { method, path } = route
      const body = method === 'GET' ? {} : { body: '{broken' }
      const isFirst = !seen.has(kindOf(route))
      seen.add(kindOf(route))
      // What was a key once is tried on every route, the rest on one of each kind.
      const tried = isFirst ? values : { revoked: values.revoked, expired: values.expired }
      for (const [what, token] of Object.entries(tried)) {
        const answer = await operator.api.call(method, path.replace(/\{[^}]+\}/g, 'x'), {
          token,
          ...body,
        })
        expect([what, path, answer.status, answer.body]).toEqual([what, path, 401, refused])
        expect(answer.headers.get('www-authenticate')).toBeNull()
      }
    }
    expect((await operator.me(active.secret)).status).toBe(200)
    expect(await operator.trail('console.read')).toHaveLength(trail.length + 1)
  })

  it('[H-KEY-5] ends a key to the millisecond', async () => {
    const { secret } = await operator.make({ expires_at: scenario.clock.nowUnixMs() + 60_000 })
    await scenario.clock.advance(59_999)
    expect((await operator.me(secret)).status).toBe(200)
    await scenario.clock.advance(1)
    expect((await operator.me(secret)).body).toEqual(refused)
  })

  it('[H-AUTH-1] [H-AUTH-3] is taken from the header and from nowhere else', async () => {
    const { secret } = await operator.make({ scopes })
    const { token: player } = await scenario.signUp()
    const path = `/console/v1/me?token=${secret}&access_token=${secret}&authorization=${secret}`
    const cookie = `authorization=${secret}; token=${secret}`
    const elsewhere = [
      { headers: { cookie } },
      { headers: { 'x-api-key': secret } },
      { headers: { authorization: `Basic ${secret}` } },
      { headers: { authorization: secret } },
      { headers: { authorization: `bearer ${secret}` } },
      { headers: { authorization: `Bearer  ${secret}` } },
      { token: player, headers: { cookie } },
    ]
    for (const request of elsewhere) {
      const answer = await operator.api.call('GET', path, request)
      expect([answer.status, answer.body]).toEqual([401, refused])
    }
    const inBody = { body: { token: secret, authorization: `Bearer ${secret}` } }
    expect((await operator.api.call('POST', '/console/v1/api-keys', inBody)).status).toBe(401)
    expect((await operator.api.call('GET', '/v1/account', { token: secret })).status).toBe(401)
  })

  it('[H-AUTH-5] [H-AUTH-6] [H-GEN-7] reads with its scope, and never writes', async () => {
    const machine = await operator.make({ scopes })
    const before = await scenario.rowsOf('api_keys')
    for (const route of routesOn(backend)) {
      const { method, path, scope } = route
      const others = scopes.filter((each) => each !== scope)
      const body = method === 'GET' ? {} : { body: '{broken' }
      const statusWith = async ({ secret }: MadeKey, sent = method) =>
        (await operator.api.call(sent, path.replace(/\{[^}]+\}/g, 'x'), { token: secret, ...body }))
          .status
      const isOpen = route.access === 'operator' && scope !== 'no key'
      const allowed = await statusWith(machine)
      if (isOpen) expect([path, allowed]).not.toEqual([path, 403])
      else expect([path, allowed]).toEqual([path, 403])
      if (isOpen && method === 'GET')
        expect(await statusWith(machine, 'HEAD' as never)).not.toBe(403)
      if (scope === 'any key' || !isOpen) continue
      const other = await operator.make({ scopes: others })
      expect([path, await statusWith(other)]).toEqual([path, 403])
      await operator.revoke(other.key.id, 1)
    }
    const after = await scenario.rowsOf('api_keys', `id = '${machine.key.id}'`)
    expect(before).toContainEqual({ ...after[0], last_used_at: null })
  })

  it('[H-AUD-3] [H-AUD-1] records a read that passed the checks, whatever it was answered', async () => {
    const { key, secret } = await operator.make({ name: 'ci', scopes: ['groups:read'] })
    const ask = async (path: string, method = 'GET') =>
      (await operator.api.call(method, `/console/v1/${path}`, { token: secret })).status
    const asked = [
      await ask('groups?unknown=1'),
      await ask('config'),
      await ask('groups?filter=secret'),
      await ask('groups', 'POST'),
      await ask('groups/4711', 'HEAD'),
    ]
    expect(asked).toEqual([400, 403, 200, 403, 404])
    const entry = {
      time_unix_ms: scenario.clock.nowUnixMs(),
      actor_type: 'api_key',
      actor: key.id,
      role: 'api_key',
      credential_id: key.id,
      key_name: 'ci',
      scopes: ['groups:read'],
      action: 'console.read',
      target: '/console/v1/groups',
      details: 'method=GET path=/console/v1/groups',
    }
    const path = '/console/v1/groups/{id}'
    const looked = { ...entry, target: path, details: `method=HEAD path=${path}` }
    const trail = (await operator.trail('console.read')).filter(({ actor }) => actor === key.id)
    expect(trail).toEqual([looked, entry, entry])
  })

  it('[H-AUD-7] keeps reads of the trail out of the trail, and logs them', async () => {
    const { key, secret } = await operator.make({ name: 'reader', scopes: ['audit:read'] })
    await operator.api.call('GET', '/console/v1/audit?actor=secret', { token: secret })
    const trail = (await operator.trail('console.read')).filter(({ actor }) => actor === key.id)
    const lines = operator.api.log.lines.filter(({ fields }) => fields.actor === key.id)
    const seen = {
      action: 'console.read',
      target: '/console/v1/audit',
      details: 'method=GET path=/console/v1/audit',
    }
    // In memory the ring is the trail.
    const isInMemory = backend.name === 'in-memory'
    expect(trail).toMatchObject(isInMemory ? [seen] : [])
    expect(lines.map(({ fields }) => fields)).toMatchObject(isInMemory ? [] : [seen])
  })

  it('[H-KEY-3] [H-KEY-5] lets one of many rotations of a generation win', async () => {
    const { key } = await operator.make({ name: 'sought after' })
    const nodes = [operator, await openKeyOperator(await scenario.openNode())]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => (nodes[index % 2] ?? operator).rotate(key.id, 1)),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    const [winner] = won.map((answer) => madeOf(answer, 200))
    expect((await operator.me(winner?.secret ?? '')).status).toBe(200)
    expect((await operator.get(key.id)).generation).toBe(2)
    const trail = await operator.trail('api_keys.rotate')
    expect(trail.filter(({ target }) => target === key.id)).toHaveLength(1)
  })

  it('[H-KEY-5] lets either a rotation or a revocation of a generation win', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { key } = await operator.make({})
      const [rotation, revocation] = await Promise.all([
        operator.rotate(key.id, 1),
        operator.revoke(key.id, 1),
      ])
      expect([rotation.status, revocation.status].sort()).toEqual([200, 409])
      const after = await operator.get(key.id)
      const rotated = rotation.status === 200
      expect([after.generation, after.status]).toEqual(rotated ? [2, 'active'] : [1, 'revoked'])
    }
  })

  it('[H-AUTH-6] [O-NOD-1] what one node rotates or revokes the other refuses at once', async () => {
    const other = await openKeyOperator(await scenario.openNode())
    const { key, secret } = await operator.make({})
    expect((await other.me(secret)).status).toBe(200)
    const next = madeOf(await operator.rotate(key.id, 1), 200)
    expect((await other.me(secret)).body).toEqual(refused)
    expect((await other.me(next.secret)).status).toBe(200)
    expect((await other.revoke(key.id, 2)).status).toBe(200)
    for (const at of [operator, other]) expect((await at.me(next.secret)).body).toEqual(refused)
  })

  it('[H-ID-1] keeps a secret nowhere: database, trail, log', async () => {
    const made = await operator.make({ name: 'discreet' })
    await operator.me(made.secret)
    await operator.me(`${made.secret}x`)
    await operator.api.call('POST', '/console/v1/api-keys', { token: made.secret, body: '{' })
    const rotated = madeOf(await operator.rotate(made.key.id, 1), 200)
    await operator.me(made.secret)
    await operator.me(rotated.secret)
    const headers = { 'idempotency-key': 'discreet' }
    const body = { name: 'discreet', scopes: ['audit:read'] }
    const keyed = madeOf(await operator.post('', body, headers), 201)
    const trail = JSON.stringify(await operator.trail(''))
    const stored = await dump(scenario.db)
    const said = JSON.stringify(scenario.api.log.lines)
    const shown = (await operator.read()).text + (await operator.read(`/${made.key.id}`)).text
    for (const { key, secret } of [made, rotated, keyed]) {
      const text = secret.slice(-43)
      const bytes = Buffer.from(text, 'base64url')
      expect(stored).toContain(key.id)
      for (const spelling of [text, ...spellingsOf(bytes)]) {
        for (const place of [stored, trail, said, shown]) expect(place).not.toContain(spelling)
      }
    }
    const [row] = await scenario.rowsOf('api_keys', `id = '${rotated.key.id}'`)
    const secret = Buffer.from(rotated.secret.slice(-43), 'base64url')
    const digest = createHash('sha256').update(secret).digest()
    expect(Buffer.from(row?.secret_digest as Uint8Array)).toEqual(digest)
    expect(shown).not.toContain(digest.toString('base64url'))
  })

  it('[H-IDM-5] shows a secret once: a repeat is refused and makes no second key', async () => {
    const headers = { 'idempotency-key': 'once' }
    const body = { name: 'once', scopes: ['audit:read'] }
    const { key } = madeOf(await operator.post('', body, headers), 201)
    const keys = await scenario.countRows('api_keys')
    const trail = await operator.trail()
    const repeated = await operator.post('', body, headers)
    const other = await operator.post('', { ...body, name: 'twice' }, headers)
    const rotation = [`/${key.id}/rotate`, { generation: 1 }, headers] as const
    const rotated = madeOf(await operator.post(...rotation), 200)
    const again = await operator.post(...rotation)
    for (const answer of [repeated, other, again]) {
      expect([answer.status, answer.body]).toMatchObject([409, { code: 'conflict' }])
      expect(answer.headers.get('idempotency-replayed')).toBeNull()
    }
    expect(await scenario.countRows('api_keys')).toBe(keys)
    expect(await operator.trail()).toHaveLength(trail.length + 1)
    expect((await operator.me(rotated.secret)).status).toBe(200)
  })

  it('[H-IDM-3] [H-IDM-4] replays a revocation, and refusals leave the key free', async () => {
    const { key } = await operator.make({})
    const headers = { 'idempotency-key': 'gone' }
    const revoke = (generation: number) =>
      operator.post(`/${key.id}/revoke`, { generation }, headers)
    expect((await revoke(2)).status).toBe(409)
    const first = await revoke(1)
    await scenario.clock.advance(1000)
    const trail = await operator.trail()
    const second = await revoke(1)
    expect([second.status, second.text]).toEqual([200, first.text])
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await operator.trail()).toEqual(trail)
  })
})

describe.each(testBackends)('a restart on $name', (backend) => {
  it('[O-DB-3] keeps keys exactly where the backend is durable', async () => {
    const scenario = await openScenario(backend)
    const before = await openKeyOperator(scenario.api)
    const kept = await before.make({ name: 'kept' })
    const revoked = await before.make({ name: 'revoked' })
    await before.revoke(revoked.key.id, 1)
    const known = await before.list()
    await scenario.restart()
    const after = await openKeyOperator(scenario.api)
    const durable = backend.name !== 'in-memory'
    expect((await after.me(revoked.secret)).status).toBe(401)
    expect(await after.list()).toEqual(durable ? known : [])
    expect((await after.me(kept.secret)).status).toBe(durable ? 200 : 401)
    await scenario.dispose()
  })
})

/** What decides how a route finds out who asks: several of a kind are served by the same steps. */
function kindOf(route: Route): string {
  const { access, scope, method } = route
  return JSON.stringify([access, scope, method, 'bearer' in route && route.bearer])
}

/** Base64url of 32 bytes leaves two bits open: another last character may mean the same bytes. */
function otherSpelling(value: string): string {
  const bytes = Buffer.from(value.slice(-43), 'base64url')
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = [...alphabet].find((character) => {
    const other = value.slice(-43, -1) + character
    return !value.endsWith(character) && Buffer.from(other, 'base64url').equals(bytes)
  })
  return value.slice(0, -1) + last
}

function spellingsOf(bytes: Buffer): string[] {
  return (['hex', 'base64', 'latin1'] as const).map((spelling) => bytes.toString(spelling))
}
