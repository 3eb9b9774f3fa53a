import { it } from 'vitest'
import { startPostgresServer } from '../../database/testing/postgres-server.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { breakOff } from './rounds.ts'
import { crashSettings } from './settings.ts'
import { postgresCrashes } from './stores.ts'

const { timeLimitMs, rounds, ...plan } = crashSettings
/** A handful: each takes some seconds. */
const outages = 1 + Math.ceil(rounds / 25)

it(
  '[O-FLT-1][O-FLT-3][O-TX-4] goes on without a restart after its PostgreSQL was killed, and has what it acknowledged',
  async () => {
    const clock = createSystemClock()
    const server = await startPostgresServer()
    const outage = async (durationMs: number) => {
      await server.stop()
      await clock.sleep(durationMs)
      await server.start()
    }
    try {
      const backend = postgresCrashes({ url: server.url, clock, ...plan })
      await breakOff({ backend, ...plan }, { outages, outage, sleep: (ms) => clock.sleep(ms) })
    } finally {
      await server.dispose()
    }
  },
  timeLimitMs,
)
