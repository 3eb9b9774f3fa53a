import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { startNodeProcess } from './testing/node-process.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

/** A node of which only the ready line is read, so that a test can do with its outputs as it likes. */
function spawnNode(variables: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], GUILDHALL_HTTP__BIND: '127.0.0.1:0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, exited: once(child, 'exit') }
}

async function readyUrl({ child }: ReturnType<typeof spawnNode>): Promise<string> {
  const [line] = await once(child.stdout, 'data')
  return / ready http=(\S+)/.exec(String(line))?.[1] ?? ''
}

it('[O-STP-1] [O-STP-3] counts the drain delay into the deadline, and ends there with 1', async () => {
  const node = await startNodeProcess({
    'shutdown.deadline_ms': '1000',
    'shutdown.drain_delay_ms': '60000',
  })
  expect(await node.stop()).toBe(1)
  expect(node.output()).toContain('unfinished_step="drain delay" rows_not_written=0')
})

it('[O-STP-3] ends although nobody reads its log', async () => {
  const node = spawnNode({ GUILDHALL_LOGGING__LEVEL: 'trace' })
  const url = await readyUrl(node)
  // Far more than the pipe holds.
  const path = `/${'x'.repeat(200)}`
  for (let i = 0; i < 2000; i += 1) await (await fetch(url + path)).arrayBuffer()
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
})
