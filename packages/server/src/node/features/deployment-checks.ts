import type { Config } from '../../config/schema.ts'
import type { Check } from '../../database/checks/check.ts'
import { createLeases } from '../../database/jobs/leases.ts'
import type { OpenedDatabase } from '../../database/migrations/schema-access.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { createClockWatch } from '../../kernel/time/clock-watch.ts'
import { createConnectedPlayers } from '../../realtime/connected-players.ts'
import { createFeatures } from './features.ts'
import { checksOf } from './joined.ts'

export type DeploymentChecksDeps = {
  db: OpenedDatabase
  clock: Clock
  ids: Ids
  log: Log
  config: Config
  version: string
  bootId: string
}

/** What must always hold in the store of a deployment. Its features are built and not started. */
export function deploymentChecks(deps: DeploymentChecksDeps): readonly Check[] {
  const { db, clock, ids, log, config, bootId } = deps
  const players = createConnectedPlayers()
  const features = createFeatures({
    ...deps,
    clockWatch: createClockWatch({ clock, log }),
    leases: createLeases({ db, clock, log, holder: bootId, lifeMs: config.scheduler.lease_ttl_ms }),
    secrets: { admission: ids.bytes(32), sessions: ids.bytes(32), explorer: ids.bytes(32) },
    onRevoked: () => undefined,
    players: players.live,
    recording: players.recording.players,
    journal: { record: () => '' },
  })
  return checksOf(features)
}
