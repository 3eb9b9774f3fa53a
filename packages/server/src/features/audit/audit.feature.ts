import type { Database, Transaction } from '../../database/database.ts'
import { createAuditRecorder, type RecordedEvent } from '../../kernel/audit/recorder.ts'
import { lostRows, rowQueue } from '../../kernel/batching/row-queue.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Lease } from '../../kernel/tasks/lease.ts'
import { defineFeature, type FeatureTask, mount } from '../feature.ts'
import { type CombinedMutationsDeps, createMutateMany } from './audit.combined-mutations.ts'
import { createMutate, type MutationsDeps } from './audit.mutations.ts'
import { auditHandlers } from './audit.routes.ts'
import { createAudit, createTrailWriter } from './audit.service.ts'
import { createAuditStory } from './audit.story.ts'
import { createAuditCheck } from './chain/chain.checks.ts'
import { createSealer, headIntervalMs, type Sealer, sealIntervalMs } from './chain/sealer.ts'

type AuditFeatureDeps = {
  db: Database
  clock: Clock
  ids: Ids
  log: Log
  nodeId: string
  config: { logs: LogsConfig }
  /** One node of a deployment links the chain. */
  leases: { of(name: string): Lease<Transaction> }
  idempotency: {
    record: MutationsDeps['recordAnswer']
    recordAll: CombinedMutationsDeps['recordAnswers']
  }
}

type LogsConfig = {
  audit_ring_capacity: number
  audit_max_queue_items: number
  audit_retention_days: number
  audit_chain_key?: string | undefined
  flush_batch_items: number
  flush_interval_ms: number
}

/**
 * The audit trail: the recorder, its queue and the chain on a durable backend, the reader of both,
 * and the one way in which mutations change the store.
 */
export function auditFeature(deps: AuditFeatureDeps) {
  const { db, clock, idempotency } = deps
  const config = deps.config.logs
  const log = deps.log.component('audit')
  const queue = rowQueue<RecordedEvent>(deps, {
    name: 'audit',
    capacity: config.audit_max_queue_items,
    write: createTrailWriter(deps),
  })
  const recorder = createAuditRecorder({
    ...deps,
    ringCapacity: config.audit_ring_capacity,
    ...(queue && { enqueue: (event: RecordedEvent) => queue.add(event), logRingOnly }),
  })
  const dropped = () => lostRows(queue)
  const audit = createAudit({
    db,
    clock,
    recorder,
    retentionDays: config.audit_retention_days,
    ...(queue && { queue: { flush: (timeoutMs: number) => queue.flush(timeoutMs), dropped } }),
  })
  const lease = db.durable ? deps.leases.of('sealer') : undefined
  const sealer = lease && createSealer({ ...deps, log, lease, key: config.audit_chain_key })

  function logRingOnly({ action, actor, target, details }: RecordedEvent): void {
    log.info('read what was recorded', { action, actor, target, details })
  }

  return defineFeature(
    {
      routes: mount({ audit: auditHandlers(audit) }),
      pruners: { audit_entries: audit.prune },
      checks: [createAuditCheck(config.audit_chain_key)],
      stories: { audit: createAuditStory({ db, recorder }) },
      crash: {
        audit_unsealed: { not: 'empty once all is sealed; the trail is held' },
        audit_entries: 'trail',
        audit_chain_ends: 'doctor',
      },
      queues: queue === undefined ? [] : [queue],
      counters: () => ({ audit_dropped_total: dropped() }),
      ...(sealer && sealing(sealer)),
    },
    {
      recorder,
      mutate: createMutate({ ...deps, recorder, recordAnswer: idempotency.record }),
      mutateMany: createMutateMany({ ...deps, recorder, recordAnswers: idempotency.recordAll }),
    },
  )
}

/** The chain over the rows of a durable trail. */
function sealing(sealer: Sealer) {
  const tasks: FeatureTask[] = [
    {
      name: 'audit-sealer',
      intervalMs: sealIntervalMs,
      run: ({ progress }) => sealer.seal(progress),
      needsDatabase: true,
    },
    { name: 'audit-head', intervalMs: headIntervalMs, run: sealer.logHead },
  ]
  return {
    tasks,
    degraded: sealer.behind,
    /** The rows of the queue are part of the chain that is logged. */
    async close() {
      await sealer.seal()
      await sealer.logHead()
    },
  }
}
