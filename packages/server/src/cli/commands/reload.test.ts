import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { startNodeProcess } from '../../testing/node-process.ts'
import { runCommand } from '../run-command.ts'

/** A node with a game, and its command line. */
async function open() {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-reload-'))
  const game = join(folder, 'game')
  mkdirSync(game)
  const save = (text: string) => writeFileSync(join(game, 'main.ts'), text)
  save(`guildhall.on_rpc('x', () => 1)`)
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

it('[S-REL-9] reload prints what came of it, and ends with 0 or 1', async () => {
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
  const nobody = await run('reload', 'another')
  expect(nobody).toMatchObject({ code: 1, stdout: '' })
  expect(nobody.stderr).toMatch(/no node runs with this configuration/)
}, 90_000)

it('[S-REL-9] SIGHUP loads the script anew', async () => {
  const { node } = await open()
  process.kill(node.pid, 'SIGHUP')
  await expect
    .poll(() => node.output(), { timeout: 20_000 })
    .toMatch(/the script serves .*generation=2 reason=signal/)
}, 60_000)

it('[S-PRF-2] profile writes where the CPU of the script goes', async () => {
  const { run, folder } = await open()
  const done = await run('profile --seconds 1 --out game.cpuprofile')
  expect(done).toMatchObject({ code: 0, stdout: 'written to game.cpuprofile\n' })
  const profile: unknown = JSON.parse(readFileSync(join(folder, 'game.cpuprofile'), 'utf8'))
  expect(profile).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) })
  expect(await run('profile --seconds 0')).toMatchObject({ code: 2 })
  expect(await run('profile --seconds 1', 'another')).toMatchObject({ code: 1, stdout: '' })
  expect(await run('profile --seconds 1 --out no/such/folder')).toMatchObject({ code: 1 })
}, 90_000)
