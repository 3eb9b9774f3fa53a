import { consoleApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createDirectory } from '../../cluster/directory/directory.store.ts'
import type { Database } from '../../database/database.ts'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { openTestApi, type TestApi } from '../../testing/api.ts'
import { rowsOf } from '../../testing/tables.ts'

/** Tokens of operators on nodes that play together. */
describe.each(testBackends)('operators of several nodes on $name', (backend) => {
  let test: TestDatabase
  let clock: FakeClock
  const gone = new Set<string>()
  beforeEach(async () => {
    gone.clear()
    clock = createFakeClock()
    test = await backend.open()
    return () => test.dispose()
  })

  async function node(name: string, config: Record<string, string> = {}): Promise<TestApi> {
    const bootId = `bt1-${name}`
    const settings = {}
    await createDirectory(test.db).claimSlot({
      ...{ node_id: name, boot_id: bootId, version: '1.0.0', state: 'live', settings },
    })
    const db: Database = test.db
    const isBootGone = (boot: string) => gone.has(boot)
    const api = await openTestApi({ db, clock, config, bootId, isBootGone })
    onTestFinished(() => api.close())
    return api
  }

  async function login(on: TestApi): Promise<string> {
    const body = { username: 'admin', password: 'password' }
    return consoleApi.login.ok.parse((await on.call('POST', '/console/v1/login', { body })).body)
      .token
  }
  const me = async (on: TestApi, token: string) =>
    (await on.call('GET', '/console/v1/me', { token })).status

  it('[O-NOD-4] a token of one node is good on all, and no table has it', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const token = await login(one)
    expect([await me(one, token), await me(two, token)]).toEqual([200, 200])
    const rows = await rowsOf(test.db, 'console_tokens')
    expect(rows).toMatchObject([{ username: 'admin', role: 'admin', boot_id: 'bt1-one' }])
    expect(Buffer.from(rows[0]?.digest as Uint8Array)).toEqual(sha256(token))
    expect(await me(two, token.replace(/./g, '0'))).toBe(401)
  })

  it('[O-NOD-4, H-CON-3] it expires, and ends by a logout on any node within a second', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const [first, second] = [await login(one), await login(one)]
    expect([await me(two, first), await me(two, second)]).toEqual([200, 200])
    expect((await two.call('POST', '/console/v1/logout', { token: first })).status).toBe(204)
    expect(await me(two, first)).toBe(401)
    await clock.advance(1000)
    expect([await me(one, first), await me(one, second)]).toEqual([401, 200])
    await clock.advance(3_600_000)
    expect([await me(one, second), await me(two, second)]).toEqual([401, 401])
    await one.pruner('console_tokens')(100)
    expect(await rowsOf(test.db, 'console_tokens')).toEqual([])
  })

  it('[O-NOD-4] it is good until the boot that issued it has ended', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const token = await login(one)
    expect(await me(two, token)).toBe(200)
    await createDirectory(test.db).leave('bt1-one')
    await clock.advance(1000)
    expect(await me(two, token)).toBe(401)
  })

  it('[O-NOD-4] it is good until the boot that issued it is gone', async () => {
    const [one, two] = [await node('one'), await node('two')]
    const token = await login(one)
    expect(await me(two, token)).toBe(200)
    gone.add('bt1-one')
    expect(await me(two, token)).toBe(401)
  })

  it('[R-CL-21] views of a process name the node that answers', async () => {
    const keys = { 'cluster.enabled': 'true', 'database.url': 'postgres://db/game' }
    const one = await node('one', { ...keys, 'server.node_id': 'one' })
    const token = await login(one)
    const named = async (path: string) =>
      (await one.call('GET', `/console/v1${path}`, { token })).headers.get('x-node-id')
    for (const path of [
      '/runtime',
      '/runtime/failures',
      '/errors',
      '/telemetry',
      '/history?range=5m',
    ]) {
      expect([path, await named(path)]).toEqual([path, 'one'])
    }
    expect([await named('/config'), await named('/accounts')]).toEqual(['one', null])
    const alone = await openTestApi({ db: test.db, clock })
    onTestFinished(() => alone.close())
    const answer = await alone.call('GET', '/console/v1/runtime', { token: await login(alone) })
    expect([answer.status, answer.headers.get('x-node-id')]).toEqual([200, null])
  })

  it('[H-OPS-6] a node refuses names that its own configuration does not know', async () => {
    const one = await node('one')
    const two = await node('two', { 'console.username': 'root' })
    const token = await login(one)
    expect([await me(one, token), await me(two, token)]).toEqual([200, 401])
  })

  it('[O-FLT-2] what a node has seen of a token serves on while the database is away', async () => {
    const [one, two, three] = [await node('one'), await node('two'), await node('three')]
    const token = await login(one)
    expect(await me(two, token)).toBe(200)
    await test.db.close()
    await clock.advance(60_000)
    expect(await me(two, token)).toBe(200)
    expect(await me(three, token)).toBe(500)
    await test.reopen()
  })
})
