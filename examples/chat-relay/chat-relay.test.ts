import { fileURLToPath } from 'node:url'
import { it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { chat } from './clients.ts'

it('two players sign up, connect and hear each other through the script', async () => {
  const game = fileURLToPath(new URL('./game', import.meta.url))
  const node = await startNodeProcess({ 'runtime.scripts_dir': game })
  try {
    await chat(node.url)
  } finally {
    await node.stop()
  }
}, 30_000)
