import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { playArena } from './arena.ts'

/** As in node.toml. */
const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
  'runtime.tick_hz': '20',
  'rooms.reconnect_grace_ms': '20000',
}

it.concurrent.each(testBackends)(
  'two players play a round on $name, and a reloaded page has its seat',
  async (backend) => {
    const store = await backend.open({ migrated: false })
    await store.db.close()
    const node = await startNodeProcess({ ...keys, 'database.url': store.url })
    try {
      expect(await playArena(node.url)).toEqual([
        'ana and ben are in the same room',
        'ana gathers sparks',
        'ana reloads the page and has her seat and her sparks',
        expect.stringMatching(/^(ana|ben) wins the round$/),
      ])
    } finally {
      await node.stop()
      await store.dispose()
    }
  },
  90_000,
)
