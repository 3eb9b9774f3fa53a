import type { Database, Transaction } from '../../database/database.ts'
import { type AuditEvent, type AuditRecorder, actorOf } from '../../kernel/audit/recorder.ts'
import type {
  Answered,
  AuditWords,
  IdempotentRequest,
  Mutate,
  Mutation,
  RecordedAnswer,
} from '../../kernel/mutation.ts'
import { rowOf } from './audit.service.ts'
import { auditStore } from './audit.store.ts'

export type MutationsDeps = {
  db: Database
  nodeId: string
  recorder: AuditRecorder
  recordAnswer(tx: Transaction, request: IdempotentRequest, answer: RecordedAnswer): Promise<void>
}

/**
 * Makes the one function through which mutations change the store: the change, its audit
 * entry and the record of a idempotent request commit together, so that neither exists without
 * the others. The in-process ring gets it once it is durable.
 */
export function createMutate(deps: MutationsDeps): Mutate<Transaction> {
  const { db, nodeId, recorder, recordAnswer } = deps
  return async (mutation, change, options) => {
    const { answer, events } = await db.transaction(async (tx) => {
      const done = await change(tx)
      const entries = 'audited' in done ? done.audited : [done]
      const events = entries
        .map((words) => eventOf(mutation, words))
        .filter((event) => event !== undefined)
        .map(recorder.prepare)
      // In memory the ring is the trail.
      if (db.durable && events.length > 0) {
        auditStore.insertAtCommit(
          tx,
          events.map((event) => rowOf(event, nodeId)),
        )
      }
      const { idempotent } = mutation
      if (idempotent !== undefined) await recordAnswer(tx, idempotent, recordOf(idempotent, done))
      return { answer: done.answer, events }
    }, options)
    for (const event of events) recorder.committed(event)
    return answer
  }
}

/** What the trail says of a mutation; undefined where it keeps nothing. */
export function eventOf(
  { actor, action }: Mutation,
  { target, details }: AuditWords,
): AuditEvent | undefined {
  if (action === undefined || actor.kind === 'system') return undefined
  // Which revision it was says no more of a script's change than the answer says already.
  const words = actor.kind === 'script' ? actor.revision_id : details
  return { ...actorOf(actor), action, target, details: words }
}

/** What a repeat of the request gets. */
export function recordOf(request: IdempotentRequest, done: Answered<unknown>): RecordedAnswer {
  return request.recordOf(done.shown ? done.shown() : done.answer)
}
