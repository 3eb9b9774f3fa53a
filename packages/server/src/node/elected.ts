import { createLeases } from '../database/jobs/leases.ts'
import { createSealer } from '../features/audit/audit.sealer.ts'
import type { Shared } from './shared.ts'
import type { Shutdown } from './shutdown.ts'

/**
 * The leases of the jobs that only one node of a deployment does at a time, and the sealer of the
 * audit trail, which a database in memory does not have.
 */
export function createElected(shared: Shared, bootId: string, shutdown: Shutdown) {
  const { db, clock, log, config } = shared
  const leases = createLeases({
    db,
    clock,
    log: log.component('leases'),
    holder: bootId,
    lifeMs: config.scheduler.lease_ttl_ms,
  })
  shutdown.onStop('leases', leases.release)
  if (!db.durable) return { leases, sealer: undefined }
  const sealer = createSealer({
    db,
    clock,
    log: log.component('audit'),
    lease: leases.of('sealer'),
    key: config.logs.audit_chain_key,
  })
  // After the queues were written: their rows are part of the chain that is logged.
  shutdown.onStop('audit chain', async () => {
    await sealer.seal()
    await sealer.logHead()
  })
  return { leases, sealer }
}
