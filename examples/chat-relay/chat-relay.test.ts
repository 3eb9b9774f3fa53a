import { fileURLToPath } from 'node:url'
import { it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { chat } from './clients.ts'

it.each([
  ['TypeScript', 'game', {}],
  ['TypeScript, sandboxed', 'game', { 'runtime.tier': 'sandboxed' }],
  ['Lua', 'lua', {}],
  ['Python', 'python', {}],
])(
  'two players sign up, connect and hear each other through the script: %s',
  async (_language, folder, settings) => {
    const game = fileURLToPath(new URL(`./${folder}`, import.meta.url))
    const node = await startNodeProcess({ 'runtime.scripts_dir': game, ...settings })
    try {
      await chat(node.url)
    } finally {
      await node.stop()
    }
  },
)
