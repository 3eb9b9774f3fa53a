import { inject, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { crash } from './rounds.ts'
import { crashSettings } from './settings.ts'
import { postgresCrashes } from './stores.ts'

const { timeLimitMs, ...plan } = crashSettings

it(
  '[O-DB-6][O-TX-1][O-ID-1][O-MIG-4][H-IDM-3] keeps what it acknowledged on PostgreSQL, killed at any moment',
  async () => {
    const url = (database: string) =>
      `postgres://guildhall@127.0.0.1:${inject('postgresPort')}/${database}`
    const backend = postgresCrashes({ url, clock: createSystemClock(), ...plan })
    await crash({ backend, ...plan })
  },
  timeLimitMs,
)
