import { randomBytes } from 'node:crypto'
import { createLeases } from '../../database/jobs/leases.ts'
import { migrate } from '../../database/migrations/migrate.ts'
import { openDatabase } from '../../database/open.ts'
import { silentLog } from '../../database/testing/silent-log.ts'
import { testVersion } from '../../database/testing/template.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import { createIds, newBootId } from '../../kernel/ids.ts'
import { createClockWatch } from '../../kernel/time/clock-watch.ts'
import { createTrail } from '../../node/features/features.ts'
import { createConnectedPlayers } from '../../realtime/connected-players.ts'
import { testConfig } from '../config.ts'
import { noPlayers } from '../no-players.ts'

/** What a program that measures a part of the node gets on its command line, as JSON. */
export type MeasuredOptions = {
  url: string
}

/** What every part of the node is built with, on the system's clock and a migrated database. */
export async function openDeployment({ url }: MeasuredOptions) {
  const config = await testConfig()
  const clock = createSystemClock()
  const db = await openDatabase({
    url,
    config: config.database,
    clock,
    log: silentLog,
    randomness: randomBytes,
  })
  await migrate(db, { version: testVersion, clock, log: silentLog, holder: 'measured' })
  const shared = {
    db,
    clock,
    clockWatch: createClockWatch({ clock, log: silentLog }),
    ids: createIds({ clock, nodeId: config.server.node_id, bootId: newBootId() }),
    log: silentLog,
    config,
    version: testVersion,
    bootId: 'measured',
    leases: createLeases({ db, clock, log: silentLog, holder: 'measured', lifeMs: 15_000 }),
    secrets: {
      admission: new Uint8Array(32),
      sessions: new Uint8Array(32),
      explorer: new Uint8Array(32),
    },
    onRevoked() {},
    players: noPlayers,
    recording: createConnectedPlayers().recording.players,
    journal: { record: () => '' },
  }
  return { shared, ...createTrail(shared) }
}
