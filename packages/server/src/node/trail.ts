import { createMutateMany } from '../features/audit/audit.combined-mutations.ts'
import { createMutate } from '../features/audit/audit.mutations.ts'
import { createAudit } from '../features/audit/audit.service.ts'
import { createIdempotency } from '../features/idempotency/idempotency.service.ts'
import { createAuditRecorder, type RecordedEvent } from '../kernel/audit/recorder.ts'
import { createWriteBehind } from '../kernel/batching/write-behind.ts'
import type { Shared } from './shared.ts'

export type Trail = ReturnType<typeof createTrail>

/**
 * What is remembered of operators' doings: the recorder, its queue on a durable backend, the reader
 * of both, and the one way in which mutations change the store.
 */
export function createTrail({ db, clock, ids, log, config }: Shared) {
  const { logs } = config
  const nodeId = config.server.node_id
  const queue = db.durable
    ? createWriteBehind<RecordedEvent>({
        name: 'audit',
        capacity: logs.audit_max_queue_items,
        batchItems: logs.flush_batch_items,
        flushIntervalMs: logs.flush_interval_ms,
        write: (events) => audit.write(events),
        clock,
        log,
      })
    : undefined
  const dropped = () => {
    const { dropped = 0, abandoned = 0 } = queue?.counts() ?? {}
    return dropped + abandoned
  }
  const auditLog = log.component('audit')
  const logRingOnly = ({ action, actor, target, details }: RecordedEvent) =>
    auditLog.info('read what was recorded', { action, actor, target, details })
  const recorder = createAuditRecorder({
    clock,
    ids,
    ringCapacity: logs.audit_ring_capacity,
    ...(queue === undefined ? {} : { enqueue: (event) => queue.add(event), logRingOnly }),
  })
  const audit = createAudit({
    db,
    clock,
    nodeId,
    recorder,
    retentionDays: logs.audit_retention_days,
    ...(queue === undefined
      ? {}
      : { queue: { flush: (timeoutMs) => queue.flush(timeoutMs), dropped } }),
  })
  const idempotency = createIdempotency({ db, clock })
  const mutate = createMutate({ db, nodeId, recorder, recordAnswer: idempotency.record })
  const recordAnswers = idempotency.recordAll
  const mutateMany = createMutateMany({ db, nodeId, recorder, recordAnswers })
  return { recorder, audit, idempotency, mutate, mutateMany, queue, dropped }
}
