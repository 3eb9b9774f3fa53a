import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtMain, type NodeProcess, startNodeProcess } from '../testing/node-process.ts'

/** `guildhall bots`, as the author of a game runs it. */

const folder = mkdtempSync(join(tmpdir(), 'guildhall-bots-'))
let node: NodeProcess
let bind = ''

beforeAll(async () => {
  writeFileSync(
    join(folder, 'main.mjs'),
    `guildhall.on_rpc('twice', (_ctx, body) => 2 * guildhall.json.decode(body))
     guildhall.on_rpc('no', () => guildhall.fail('not today'))`,
  )
  node = await startNodeProcess({
    'runtime.scripts_dir': folder,
    'authentication.limits.source.limit': '1000',
    'authentication.limits.registration_source.limit': '1000',
    'metrics.enabled': 'true',
    'metrics.auth': 'none',
    'metrics.bind': '127.0.0.1:0',
  })
  bind = new URL(node.url).host
})
afterAll(async () => {
  await node.stop()
  rmSync(folder, { recursive: true })
})

type Ended = { code: number; stdout: string; stderr: string }

function bots(text: string, ...flags: string[]): Promise<Ended> {
  const file = join(folder, 'bot.ts')
  writeFileSync(file, text)
  const argv = [builtMain, 'bots', file, '--bind', bind, '--seconds', '1', ...flags]
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { cwd: folder, env: {} }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

const playing = `export default async ({ connection, index, signal, call }) => {
  while (!signal.aborted) {
    const reply = await call('twice', () => connection.rpc('twice', index))
    if (reply !== 2 * index) throw new Error('wrong')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}`

it('counts the calls of players that have signed in, again at the next run', async () => {
  const [, host, port] = /metrics are served host=(\S+) port=(\d+)/.exec(node.output()) ?? []
  const metrics = ['metrics.enabled=true', 'metrics.auth=none', `metrics.bind=${host}:${port}`]
  const flags = metrics.flatMap((key) => ['--set', key])
  for (let round = 0; round < 2; round += 1) {
    const { code, stdout, stderr } = await bots(playing, '--clients', '5', '--json', ...flags)
    expect(code, stderr).toBe(0)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ ok: true, clients: 5, connected: 5, error_rate: 0 })
    const names = report.calls.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['sign in', 'connect', 'twice'])
    const [signIns, , twice] = report.calls
    expect(signIns).toMatchObject({ count: 5, errors: 0 })
    expect(twice.count).toBeGreaterThan(5)
    expect(report.bots_cpu).toBeGreaterThan(0)
    expect(report.server_cpu).toBeGreaterThan(0)
    expect(twice.p50_ms).toBeLessThanOrEqual(twice.p99_ms)
  }
})

it('counts the connections that were lost meanwhile, each once', async () => {
  const losing = `export default async ({ connection, index }) => {
    if (index < 2) await connection.reconnect()
    await connection.rpc('twice', 1)
  }`
  const { code, stdout, stderr } = await bots(losing, '--clients', '3', '--json')
  expect(code, stderr).toBe(0)
  // The metrics of the node are not where the command looks for them.
  expect(JSON.parse(stdout)).toMatchObject({ connected: 3, lost: 2, server_cpu: null })
})

it('prints a table, and ends with 1 when too many calls fail', async () => {
  const failing = `export default async ({ connection, call }) => {
    await call('no', () => connection.rpc('no'))
  }`
  const { code, stdout, stderr } = await bots(failing, '--clients', '2')
  expect([code, stderr]).toEqual([1, expect.stringContaining('of the calls failed')])
  expect(stdout).toMatch(/connected +2 of 2/)
  expect(stdout).toMatch(/lost meanwhile +0\n.*\nCPU of the bots +\d+ % of one core/)
  expect(stdout).toMatch(/no +2 .*rpc_refused: not today/)
  expect((await bots(failing, '--max-errors', '1')).code).toBe(0)
})

it.each([
  ['a file without a bot', 'export const bot = 1', [], 'no function as its default export'],
  ['a file that does not load', "import './missing.ts'", [], 'missing.ts'],
  ['no clients', playing, ['--clients', '0'], '--clients takes 1 to'],
  ['no time', playing, ['--seconds', 'ten'], '--seconds takes 1 to'],
  ['a wrong share', playing, ['--max-errors', '2'], '--max-errors takes'],
])('ends with 2 for %s', async (_, text, flags, complaint) => {
  const { code, stderr } = await bots(text, ...flags)
  expect([code, stderr]).toEqual([2, expect.stringContaining(complaint)])
})

it('ends with 1 when no node is there', async () => {
  const { code, stderr } = await bots(playing, '--bind', '127.0.0.1:9')
  expect([code, stderr]).toEqual([1, expect.stringContaining('no node answers at')])
})
