import type { Status } from '@guildhall/contract'
import type { Database } from '../database/database.ts'
import type { Queue } from '../features/feature.ts'
import type { Clock } from '../kernel/clock.ts'
import type { PruneCounts } from '../kernel/tasks/retention.ts'
import type { Supervisor } from '../kernel/tasks/supervisor.ts'

export type StatusDeps = {
  clock: Clock
  db: Database
  supervisor: Supervisor
  scheduler(): Status['scheduler']
  pruneCounts: Pick<PruneCounts, 'list'>
  queues: readonly Pick<Queue, 'name' | 'counts'>[]
  transports(): Status['transports']
  runtime(): Status['runtime']
  /** Counters and gauges by name. */
  metrics(): Record<string, number>
}

/** Makes the body of `/status`, less what the shell adds. It touches no database. */
export function createStatus(deps: StatusDeps) {
  const { clock, db, supervisor, queues } = deps
  const startedMs = clock.monotonicMs()
  return (): Omit<Status, 'status' | 'node_id' | 'version' | 'build'> => ({
    uptime_seconds: Math.floor((clock.monotonicMs() - startedMs) / 1000),
    backend: db.backend,
    transports: deps.transports(),
    runtime: deps.runtime(),
    database: { state: db.state() },
    tasks: supervisor.status(),
    scheduler: deps.scheduler(),
    retention: deps.pruneCounts.list(),
    write_behind: queues.map((queue) => {
      const { added: _, ...counts } = queue.counts()
      return { name: queue.name, ...counts }
    }),
    metrics: deps.metrics(),
  })
}
