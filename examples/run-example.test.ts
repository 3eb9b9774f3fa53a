import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

test.each([
  ['arena/arena.ts', 'npm start -- --config examples/arena/node.toml'],
  ['duel/duel.ts', 'npm start -- --config examples/duel/node.toml'],
  ['guild-shop/shop.ts', 'npm start -- --config examples/guild-shop/node.toml'],
  ['season/season.ts', 'npm start -- --config examples/season/node.toml'],
  ['operators-day/day.ts', 'npm start'],
  [
    'lag/lag.ts',
    'npm start -- --config examples/lag/node.toml --set lag_diagnostics.raw_root=/tmp/guildhall-lag',
  ],
  ['chat-relay/clients.ts', 'npm start -- --set runtime.scripts_dir=examples/chat-relay/game'],
])('%s says in one line that no node answers', async (name, start) => {
  // Nothing listens on port 2.
  const baseUrl = 'http://127.0.0.1:2'
  const run = promisify(execFile)(process.execPath, [pathOf(name), baseUrl])
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `no node answers at ${baseUrl}; start one first: ${start}\n`,
  })
})
