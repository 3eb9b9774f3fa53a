import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { auditApi } from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'
import { runCommand } from '../run-command.ts'

/** A node with a game, and its command line. */
async function open({ main = 'main.ts', text = `guildhall.on_rpc('x', () => 1)` } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-reload-'))
  const game = join(folder, 'game')
  mkdirSync(game)
  const save = (text: string) => writeFileSync(join(game, main), text)
  save(text)
  const set = { 'runtime.scripts_dir': game, 'server.node_id': `reload-${process.pid}` }
  const node = await startNodeProcess(set)
  onTestFinished(async () => {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    node,
    save,
    async run(line: string, nodeId = set['server.node_id']) {
      const said = { stdout: '', stderr: '' }
      const output = (name: 'stdout' | 'stderr') => ({
        write: (text: string) => {
          said[name] += text
        },
      })
      const stdin = Readable.from([])
      const terminal = { stdin, stdout: output('stdout'), stderr: output('stderr'), cwd: folder }
      const flags = ['--node-id', nodeId, '--bind', '127.0.0.1:0']
      const serve = async () => 9
      const code = await runCommand([...line.split(' '), ...flags], {}, terminal, { serve })
      return { code, ...said }
    },
  }
}

it('[S-REL-9] [S-REL-10] reload prints what came of it, which is not in the audit trail', async () => {
  const { run, save, node } = await open()
  const equal = await run('reload')
  expect(equal).toMatchObject({ code: 0, stderr: '' })
  expect(equal.stdout).toMatch(/^active: generation 2, sha256:\w{64}, in \d+ ms \(no file has ch/)
  save(`guildhall.on_rpc('x', () => 2)`)
  const active = await run('reload --json')
  expect(JSON.parse(active.stdout)).toMatchObject({
    ...{ ok: true, outcome: 'active', generation: 3, reason: 'signal', files: ['main.ts'] },
  })
  save('broken {')
  const rejected = await run('reload')
  expect(rejected.code).toBe(1)
  expect(rejected.stdout).toMatch(/^rejected: main\.ts:1: SyntaxError.*; generation 3 goes on\n$/)
  expect((await fetch(`${node.url}/health`)).status).toBe(200)
  const operator = await openOperator({ call: createCaller(node.url) })
  const trail = auditApi.list.ok.parse((await operator.send('GET', '/audit')).body)
  expect(trail.entries.map(({ action }) => action)).toEqual(['console.login'])
  const nobody = await run('reload', 'another')
  expect(nobody).toMatchObject({ code: 1, stdout: '' })
  expect(nobody.stderr).toMatch(/no node runs with this configuration/)
})

it('[S-REL-9] SIGHUP loads the script anew', async () => {
  const { node } = await open()
  process.kill(node.pid, 'SIGHUP')
  await expect.poll(() => node.output()).toMatch(/the script serves .*generation=2 reason=signal/)
})

it('[S-REL-9] SIGHUP that comes twice while a candidate loads ends in one that serves', async () => {
  const { node, save, run, folder } = await open()
  const go = join(folder, 'go')
  save(`import { existsSync } from 'node:fs'
    console.log('a candidate loads')
    while (!existsSync(${JSON.stringify(go)})) await new Promise((done) => setTimeout(done, 20))
    guildhall.on_rpc('x', () => 2)`)
  const count = (text: RegExp) => node.output().match(text)?.length ?? 0
  process.kill(node.pid, 'SIGHUP')
  await expect.poll(() => count(/a candidate loads/g)).toBe(1)
  process.kill(node.pid, 'SIGHUP')
  process.kill(node.pid, 'SIGHUP')
  writeFileSync(go, '')
  // The last of them, or the next one behind.
  const last = JSON.parse((await run('reload --json')).stdout)
  expect(last).toMatchObject({ ok: true, outcome: 'active', reason: 'signal' })
  const served = () => count(/the script serves .*reason=signal/g)
  await expect.poll(served).toBe(last.generation - 1)
  expect(served()).toBeGreaterThanOrEqual(2)
  expect(served()).toBeLessThanOrEqual(4)
  expect(count(/rejected/g)).toBe(0)
  const operator = await openOperator({ call: createCaller(node.url) })
  const asked = await operator.send('POST', '/runtime/rpc/x', { payload: '' })
  expect(asked.body).toMatchObject({ ok: true, reply: '2' })
})

it('[S-PRF-2] profile of a script in another engine says that it is not for this engine', async () => {
  const text = 'guildhall.on_rpc("x", function() return "1" end)'
  const { run } = await open({ main: 'main.lua', text })
  const refused = await run('profile --seconds 1 --out game.cpuprofile')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('not for this engine')
  const json = await run('profile --seconds 1 --json')
  expect(JSON.parse(json.stdout)).toEqual({ ok: false, problems: ['not for this engine'] })
})

it('[S-PRF-2] profile writes where the CPU of the script goes', async () => {
  const { run, folder } = await open()
  const done = await run('profile --seconds 1 --out game.cpuprofile')
  expect(done).toMatchObject({ code: 0, stdout: 'written to game.cpuprofile\n' })
  const profile: unknown = JSON.parse(readFileSync(join(folder, 'game.cpuprofile'), 'utf8'))
  expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) })
  expect(await run('profile --seconds 0')).toMatchObject({ code: 2 })
  expect(await run('profile --seconds 1', 'another')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('profile --seconds 1 --out no/such/folder')).toMatchObject({ code: 1 })
})
