import type { Database, Transaction } from '../../database/database.ts'
import { type AuditEvent, type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import type {
  Done,
  Mutate,
  Mutation,
  RecordedAnswer,
  RepeatableRequest,
} from '../../kernel/http/mutation.ts'
import { rowOf } from './audit.service.ts'
import { auditStore } from './audit.store.ts'

export type MutationsDeps = {
  db: Database
  nodeId: string
  recorder: AuditRecorder
  recordAnswer(tx: Transaction, request: RepeatableRequest, answer: RecordedAnswer): Promise<void>
}

/**
 * Makes the one function through which console mutations change the store: the change, its audit
 * entry and the record of a repeatable request commit together, so that neither exists without
 * the others. The in-process ring hears of it once it is durable.
 */
export function createMutate(deps: MutationsDeps): Mutate<Transaction> {
  const { db, nodeId, recorder, recordAnswer } = deps
  return async (mutation, change, options) => {
    const { answer, event } = await db.transaction(async (tx) => {
      const done = await change(tx)
      const { answer } = done
      const { repeatable } = mutation
      const event = recorder.prepare(eventOf(mutation, done))
      // In memory the ring is the trail.
      if (db.durable) auditStore.insertAtCommit(tx, [rowOf(event, nodeId)])
      if (repeatable !== undefined) await recordAnswer(tx, repeatable, mutation.render(answer))
      return { answer, event }
    }, options)
    recorder.committed(event)
    return answer
  }
}

/** What the trail tells of a mutation. */
export function eventOf(
  { principal, action }: Mutation,
  { target, details }: Pick<Done<unknown>, 'target' | 'details'>,
): AuditEvent {
  return { ...actorOf(principal), action, target, details }
}
