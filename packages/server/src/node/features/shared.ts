import type { Config } from '../../config/schema.ts'
import type { Database } from '../../database/database.ts'
import type { Leases } from '../../database/jobs/leases.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { ClockWatch } from '../../kernel/time/clock-watch.ts'

/** What every part of the node is built with. */
export type Shared = {
  db: Database
  clock: Clock
  clockWatch: ClockWatch
  ids: Ids
  log: Log
  config: Config
  version: string
  bootId: string
  /** Of the jobs that one node of a deployment does. */
  leases: Leases
}
