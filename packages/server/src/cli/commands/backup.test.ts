import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { SessionTokens } from '@guildhall/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'
import { runCommand } from '../run-command.ts'

let folder: string
let node: NodeProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-drill-'))
})
afterEach(async () => {
  await node?.kill()
  node = undefined
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command line in the folder of the database. */
async function run(line: string, url = `sqlite:${join(folder, 'game.db')}`) {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const env = { GUILDHALL_DATABASE__URL: url }
  const terminal = {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    cwd: folder,
  }
  const code = await runCommand(line.split(' '), env, terminal, { serve: async () => 99 })
  return { code, ...written }
}

async function start(): Promise<NodeProcess> {
  const keys = {
    'database.url': 'sqlite:game.db',
    'authentication.limits.source.limit': '1000000',
    'authentication.limits.registration_source.limit': '1000000',
  }
  node = await startNodeProcess(keys, { cwd: folder })
  return node
}

/** Registers one account after another until asked to stop; answers who was acknowledged. */
function register(at: NodeProcess, prefix: string) {
  const call = createCaller(at.url)
  const acknowledged: { device: string; tokens: SessionTokens }[] = []
  let isOn = true
  const working = (async () => {
    for (let made = 1; isOn; made += 1) {
      const device = `${prefix}-${made}`
      const body = { id: device, create: true, username: device }
      const answer = await call('POST', '/v1/auth/device', { body })
      if (answer.status !== 201) throw new Error(`registering was answered: ${answer.text}`)
      acknowledged.push({ device, tokens: SessionTokens().parse(answer.body) })
    }
  })()
  return {
    acknowledged,
    async stop() {
      isOn = false
      await working
    },
  }
}

describe('the restore drill', () => {
  it('[O-BAK-1] [O-BAK-2] [O-BAK-3] brings back what was there when the backup began, under load', async () => {
    const first = await start()
    const load = [register(first, 'a'), register(first, 'b')]
    await expect.poll(() => load[0]?.acknowledged.length).toBeGreaterThan(20)
    const before = load.flatMap(({ acknowledged }) => [...acknowledged])
    expect(await run('backup --to copy.db')).toMatchObject({ code: 0, stderr: '' })
    expect((await run('backup --to copy.db')).code).toBe(1)
    await Promise.all(load.map(({ stop }) => stop()))
    const busy = await run('restore --from copy.db')
    expect([busy.code, busy.stderr]).toEqual([4, expect.stringContaining('in use')])
    await first.kill()
    const restored = await run('restore --from copy.db --json')
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    const { sessions_ended } = JSON.parse(restored.stdout)
    expect(sessions_ended).toBeGreaterThanOrEqual(before.length)
    expect((await run('doctor')).code).toBe(0)

    const second = await start()
    const call = createCaller(second.url)
    for (const { device, tokens } of before) {
      const known = await call('POST', '/v1/auth/device', { body: { id: device } })
      expect([known.status, (known.body as { user_id?: string }).user_id]).toEqual([
        200,
        tokens.user_id,
      ])
      expect((await call('GET', '/v1/account', { token: tokens.token })).status).toBe(401)
    }
    const replaced = readdirSync(folder).filter((name) =>
      /^game\.db\.replaced-[\dTZ.]+$/.test(name),
    )
    expect(replaced).toHaveLength(1)
    await second.stop()
    // What came after the backup is in the file that was kept.
    expect(
      (await run(`doctor --only accounts`, `sqlite:${join(folder, String(replaced[0]))}`)).code,
    ).toBe(0)
  })

  it('[O-BAK-1] backs up a file whose node was killed, and one whose node has stopped', async () => {
    const killed = await start()
    const load = register(killed, 'k')
    await expect.poll(() => load.acknowledged.length).toBeGreaterThan(5)
    await load.stop()
    await killed.kill()
    expect((await run('backup --to killed.db')).code).toBe(0)
    const stopped = await start()
    await stopped.stop()
    expect((await run('backup --to stopped.db')).code).toBe(0)
    for (const name of ['killed.db', 'stopped.db']) {
      expect((await run(`restore --from ${name}`)).stdout).toContain('player sessions')
      const again = await start()
      const call = createCaller(again.url)
      for (const { device } of load.acknowledged) {
        expect((await call('POST', '/v1/auth/device', { body: { id: device } })).status).toBe(200)
      }
      await again.stop()
    }
  })
})

describe('backup and restore', () => {
  it('[O-CLI-4] are for the embedded file only', async () => {
    for (const line of ['backup --to x.db', 'restore --from x.db']) {
      const memory = await run(line, 'memory:')
      expect([memory.code, memory.stderr]).toEqual([
        2,
        expect.stringContaining('nothing to back up'),
      ])
      const postgres = await run(line, 'postgres://u:secret@127.0.0.1:1/x')
      expect([postgres.code, postgres.stderr]).toEqual([2, expect.stringContaining('pg_dump')])
      expect(postgres.stderr).not.toContain('secret')
    }
    expect((await run('backup')).code).toBe(2)
    expect((await run('restore')).code).toBe(2)
  })

  it('[O-BAK-1] [O-BAK-2] fail with 1 where there is nothing to take', async () => {
    expect((await run('backup --to x.db')).code).toBe(1)
    expect((await run('restore --from x.db')).code).toBe(1)
    expect((await run('restore --from x.db', 'sqlite:nowhere/game.db')).code).toBe(1)
    expect(existsSync(join(folder, 'game.db'))).toBe(false)
  })
})
