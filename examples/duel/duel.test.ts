import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { playDuels, widenAfterMs } from './duel.ts'

/** As in node.toml. */
const keys = {
  'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
  'runtime.tick_hz': '10',
  'matchmaker.handoff_ttl_ms': '2000',
  'matchmaker.widen_after_ms': String(widenAfterMs),
  'authentication.limits.source.limit': '1000',
  'authentication.limits.registration_source.limit': '1000',
}

it.each(testBackends.filter(({ name }) => name === 'postgres'))(
  '[R-MM-7] [R-MM-11] [R-MM-16] [S-API-27] [R-SDK-19] [R-SDK-20] forty players find each other on $name',
  async (backend) => {
    const store = await backend.open()
    await store.db.close()
    const node = await startNodeProcess({ ...keys, 'database.url': store.url })
    try {
      expect(await playDuels(node.url)).toEqual([
        '40 players arrive',
        'three parties of two play two against two, together',
        'two players never come',
        'the one whom a friend replaces goes on, the other looks for somebody else',
        'every match is within the rules, and two far apart have waited for theirs',
        'the rooms end as their records say',
      ])
    } finally {
      await node.stop()
      await store.dispose()
    }
  },
)
