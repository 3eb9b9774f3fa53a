import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Health, Profile, Readiness, SessionTokens, Status } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { durableBackends, testBackends } from '../database/testing/backends.ts'
import { createCaller } from '../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../testing/node-process.ts'

const generous = {
  'authentication.limits.source.limit': '100000',
  'authentication.limits.registration_source.limit': '100000',
}

async function register(node: NodeProcess, name: string): Promise<SessionTokens> {
  const body = { id: name, create: true, username: name }
  const answer = await createCaller(node.url)('POST', '/v1/auth/device', { body })
  expect(answer.status).toBe(201)
  return SessionTokens().parse(answer.body)
}

async function profile(node: NodeProcess, token: string) {
  return createCaller(node.url)('GET', '/v1/account', { token })
}

describe.each(durableBackends)('a node on $name', ({ open }) => {
  it('[H-PLY-14] sessions go on after a restart in the middle of a session', async () => {
    const { url, db, dispose } = await open()
    await db.close()
    const before = await startNodeProcess({ ...generous, 'database.url': url })
    const ana = await register(before, 'ana')
    expect(await before.stop()).toBe(0)

    const after = await startNodeProcess({ ...generous, 'database.url': url })
    try {
      const answer = await profile(after, ana.token)
      expect(Profile().parse(answer.body)).toEqual({ user_id: ana.user_id, username: 'ana' })
      const refreshed = await createCaller(after.url)('POST', '/v1/session/refresh', {
        body: { refresh_token: ana.refresh_token },
      })
      expect(SessionTokens().parse(refreshed.body).user_id).toBe(ana.user_id)
      expect((await profile(after, ana.token)).status).toBe(401)
    } finally {
      await after.stop()
      await dispose()
    }
  })
})

describe('a node', () => {
  it('[O-STA-3][H-PUB-2][H-PUB-4][H-PUB-5][H-PUB-6] says where it listens and how it is', async () => {
    const node = await startNodeProcess()
    const call = createCaller(node.url)
    const version = /guildhall (\S+) ready/.exec(node.output())?.[1]
    const health = await call('GET', '/health')
    expect(Health().parse(health.body)).toEqual({ status: 'healthy', node_id: 'dev-1', version })
    expect(health.headers.get('cache-control')).toBe('no-store')
    const ready = await call('GET', '/health/ready')
    expect(ready.status).toBe(200)
    expect(
      Readiness()
        .parse(ready.body)
        .checks.map(({ name }) => name),
    ).toEqual(['database', 'migrations', 'node_claim', 'realtime', 'tasks', 'draining'])
    const status = Status().parse((await call('GET', '/status')).body)
    expect(status.backend).toBe('in-memory')
    expect(status.transports.websocket?.available).toBe(true)
    // The schema is strict, and none of its texts names a file or the machine.
    expect(JSON.stringify(status)).not.toMatch(/\/tmp|\.toml|\.ts"/)
    expect(JSON.stringify(status)).not.toContain(hostname())
    expect(`http://${status.transports.websocket?.bind}`).toBe(node.url)
    expect(await node.stop()).toBe(0)
  })

  it('[R-CLS-4][O-STP-2] closes connections with 1001 when it is asked to stop', async () => {
    const node = await startNodeProcess()
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime`)
    await once(socket, 'open')
    socket.send(Buffer.from([0, 0, 0, 2, 0, 5]))
    const [answer] = await once(socket, 'message')
    expect(Buffer.from(answer as Buffer).toString('hex')).toBe('00000003000601')
    const closed = once(socket, 'close')
    expect(await node.stop()).toBe(0)
    expect((await closed)[0]).toBe(1001)
  })

  it('[O-DB-7][R-REC-6] a second process on one database is refused with exit code 4', async () => {
    const backend = testBackends.find(({ name }) => name === 'sqlite')
    if (backend === undefined) throw new Error('no SQLite backend')
    const { url, db, dispose } = await backend.open()
    await db.close()
    const first = await startNodeProcess({ 'database.url': url })
    await expect(startNodeProcess({ 'database.url': url })).rejects.toThrow(/ended with 4/)
    await first.stop()
    await dispose()
  })

  it('[O-DB-7] nor does removing the lock let it in, and killing the first one does', async () => {
    const backend = testBackends.find(({ name }) => name === 'sqlite')
    if (backend === undefined) throw new Error('no SQLite backend')
    const { url, db, dispose } = await backend.open()
    await db.close()
    const first = await startNodeProcess({ 'database.url': url })
    rmSync(`${url.replace('sqlite:', '')}.lock`)
    for (const _try of [1, 2]) {
      await expect(startNodeProcess({ 'database.url': url })).rejects.toThrow(/ended with 4/)
    }
    await register(first, 'ana')
    await first.kill()
    const second = await startNodeProcess({ 'database.url': url })
    const taken = await createCaller(second.url)('POST', '/v1/auth/device', {
      body: { id: 'another', create: true, username: 'ana' },
    })
    expect(taken.status).toBe(409)
    await second.kill()
    expect(await (await startNodeProcess({ 'database.url': url })).stop()).toBe(0)
    await dispose()
  })

  it('[O-DB-1][O-DB-2] does not start on a file in a folder that is not there, nor make it', async () => {
    const folder = join(tmpdir(), `guildhall-mistyped-${process.pid}`)
    const starting = startNodeProcess({ 'database.url': `sqlite:${folder}/guildhall.db` })
    const said = await starting.then(String, String)
    expect(said).toMatch(/ended with 1/)
    // What the database says is enough.
    expect(said).not.toContain('the error journal')
    expect(existsSync(folder)).toBe(false)
  })

  it.each([
    { scripts_dir: './game', level: 'INFO', keys: {} },
    { scripts_dir: 'gmae', level: 'WARN', keys: { 'runtime.scripts_dir': 'gmae' } },
  ])('[S-SEL-2] says at level $level that $scripts_dir has no script', async (seen) => {
    const { scripts_dir, level, keys } = seen
    const cwd = mkdtempSync(join(tmpdir(), 'guildhall-scriptless-'))
    const node = await startNodeProcess(keys, { cwd })
    expect(await node.stop()).toBe(0)
    rmSync(cwd, { recursive: true })
    const line = node.output().match(/^.*there is no script.*$/m)?.[0]
    expect(line).toMatch(new RegExp(`^\\S+ ${level} .* scripts_dir=${scripts_dir} `))
  })

  it('[R-REV-1] a logout closes the realtime connection of that session with 4004', async () => {
    const node = await startNodeProcess(generous)
    const { token } = await register(node, 'ben')
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/realtime`)
    await once(socket, 'open')
    const head = Buffer.alloc(6)
    head.writeUInt32BE(2 + token.length)
    head.writeUInt16BE(5, 4)
    socket.send(Buffer.concat([head, Buffer.from(token)]))
    await once(socket, 'message')
    const closed = once(socket, 'close')
    await createCaller(node.url)('POST', '/v1/session/logout', { token })
    expect((await closed)[0]).toBe(4004)
    await node.stop()
  })
})
