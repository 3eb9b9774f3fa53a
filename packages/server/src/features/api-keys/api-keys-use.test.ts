import { apiKeysApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { ApiKeyPrincipal } from '../../kernel/auth/principal.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type KeyOperator, madeOf, openKeyOperator } from './api-keys.fixture.ts'
import { createKeyUse } from './api-keys.jobs.ts'

const later = 1000

describe.each(testBackends)('the last use of a key on $name', (backend) => {
  let scenario: Scenario
  let operator: KeyOperator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openKeyOperator(scenario.api)
    return () => scenario.dispose()
  })

  /** What the database holds, without the flush of a read. */
  async function storedUse(id: string): Promise<number | null> {
    const [row] = await scenario.rowsOf('api_keys', `id = '${id}'`)
    return row?.last_used_at == null ? null : Number(row.last_used_at)
  }
  const now = () => scenario.clock.nowUnixMs()

  it('[H-KEY-6] waits in memory, and is written once for many uses', async () => {
    const { key, secret } = await operator.make({})
    for (let use = 0; use < 5; use += 1) {
      expect((await operator.me(secret)).status).toBe(200)
      await scenario.clock.advance(later)
    }
    expect(await storedUse(key.id)).toBeNull()
    await scenario.api.runTask('key-use')
    expect(await storedUse(key.id)).toBe(now() - later)
  })

  it.each(['list', 'get', 'rotate', 'revoke'] as const)(
    '[H-KEY-6] is in the answer of %s',
    async (what) => {
      const { key, secret } = await operator.make({})
      await scenario.clock.advance(later)
      await operator.me(secret)
      const [used, id] = [now(), key.id]
      await scenario.clock.advance(later)
      const shown = {
        list: async () => (await operator.list()).find((each) => each.id === id),
        get: () => operator.get(id),
        rotate: async () => madeOf(await operator.rotate(id, 1), 200).key,
        revoke: async () => apiKeysApi.revoke.ok.parse((await operator.revoke(id, 1)).body),
      }
      expect((await shown[what]())?.last_used_at).toBe(used)
      expect(await storedUse(id)).toBe(used)
    },
  )

  it('[H-KEY-6] is kept by rotation and revocation, and moves with the new secret', async () => {
    const { key, secret } = await operator.make({})
    await operator.me(secret)
    const first = now()
    await scenario.clock.advance(later)
    const next = madeOf(await operator.rotate(key.id, 1), 200)
    await operator.me(secret)
    expect((await operator.get(key.id)).last_used_at).toBe(first)
    await operator.me(next.secret)
    expect((await operator.get(key.id)).last_used_at).toBe(now())
    await scenario.clock.advance(later)
    await operator.revoke(key.id, 2)
    await operator.me(next.secret)
    expect((await operator.get(key.id)).last_used_at).toBe(now() - later)
  })

  it('[H-KEY-6] never moves back, whatever the clocks of the nodes say', async () => {
    const { key, secret } = await operator.make({})
    const start = now()
    scenario.clock.setWall(start + later)
    await operator.me(secret)
    scenario.clock.setWall(start)
    await operator.me(secret)
    expect((await operator.get(key.id)).last_used_at).toBe(start + later)
    await operator.me(secret)
    expect((await operator.get(key.id)).last_used_at).toBe(start + later)
  })

  it('[H-KEY-6] is the latest of all nodes', async () => {
    const other = await openKeyOperator(await scenario.openNode())
    const { key, secret } = await operator.make({})
    await other.me(secret)
    await scenario.clock.advance(later)
    await operator.me(secret)
    expect((await operator.get(key.id)).last_used_at).toBe(now())
    expect((await other.get(key.id)).last_used_at).toBe(now())
    await scenario.clock.advance(later)
    await other.me(secret)
    expect((await operator.get(key.id)).last_used_at).toBe(now() - later)
    await other.api.runTask('key-use')
    expect((await operator.get(key.id)).last_used_at).toBe(now())
  })

  it('[H-KEY-6] leaves the new secret alone when an old one’s use comes late', async () => {
    const other = await openKeyOperator(await scenario.openNode())
    const { key, secret } = await operator.make({})
    await other.me(secret)
    await operator.rotate(key.id, 1)
    await other.api.runTask('key-use')
    expect((await operator.get(key.id)).last_used_at).toBeNull()
  })

  it('[H-KEY-6] counts only uses that pass the checks', async () => {
    const { key, secret } = await operator.make({ scopes: ['audit:read'] })
    const ask = (method: string, path: string) =>
      operator.api.call(method, `/console/v1/${path}`, { token: secret })
    expect((await ask('GET', 'config')).status).toBe(403)
    expect((await ask('GET', 'api-keys')).status).toBe(403)
    expect((await ask('POST', 'api-keys')).status).toBe(403)
    expect((await operator.me(`svc_k1_${key.id}_${'A'.repeat(43)}`)).status).toBe(401)
    expect((await operator.get(key.id)).last_used_at).toBeNull()
    expect((await ask('HEAD', 'audit')).status).toBe(200)
    expect((await operator.get(key.id)).last_used_at).toBe(now())
  })

  it('[H-KEY-6] is written for many keys at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => operator.make({})))
    await Promise.all(made.map(({ secret }) => operator.me(secret)))
    const keys = await Promise.all([operator.list(), operator.list(), operator.list()])
    for (const key of keys.flat()) expect(key.last_used_at).toBe(now())
  })

  it.runIf(backend.name !== 'in-memory')('[H-KEY-6] is not lost by a restart', async () => {
    const { key, secret } = await operator.make({})
    await operator.me(secret)
    await scenario.restart()
    expect(await storedUse(key.id)).toBe(now())
  })

  it('[H-KEY-6] stays when it could not be written, and needs no more room than is given', async () => {
    const made = [await operator.make({}), await operator.make({}), await operator.make({})]
    const ids = made.map(({ key }) => key.id)
    let broken = true
    const use = createKeyUse({
      clock: scenario.clock,
      capacity: 2,
      db: {
        transaction: (body, options) =>
          broken
            ? Promise.reject(new Error('the database is away'))
            : scenario.db.transaction(body, options),
      },
    })
    for (const id of ids) use.note(principalOf(id))
    const first = now()
    await expect(use.flush()).rejects.toThrow('the database is away')
    await scenario.clock.advance(later)
    use.note(principalOf(ids[0]))
    use.note(principalOf(ids[2]))
    expect(use.backlog().dropped).toBe(2)
    broken = false
    await use.flush()
    expect(await Promise.all(ids.map(storedUse))).toEqual([first + later, first, null])
    for (const id of ids) use.note(principalOf(id))
    expect(use.backlog().dropped).toBe(3)
  })
})

function principalOf(credential_id = ''): ApiKeyPrincipal {
  return { kind: 'api_key', credential_id, key_name: 'ci', scopes: [], generation: 1 }
}
