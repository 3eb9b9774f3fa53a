import { it } from 'vitest'
import { crash } from './rounds.ts'
import { crashSettings } from './settings.ts'
import { sqliteCrashes } from './stores.ts'

const { timeLimitMs, ...plan } = crashSettings

it(
  '[O-DB-6][O-TX-1][O-ID-1][O-MIG-4][H-IDM-3] keeps what it acknowledged on a SQLite file, killed at any moment',
  async () => {
    await crash({ backend: sqliteCrashes, ...plan })
  },
  timeLimitMs,
)
