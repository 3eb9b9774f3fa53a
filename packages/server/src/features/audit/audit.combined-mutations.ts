import type { Database, Transaction } from '../../database/database.ts'
import type { AuditRecorder, RecordedEvent } from '../../kernel/audit/recorder.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import {
  AlreadyDone,
  type Done,
  type IdempotentRequest,
  type MutateMany,
  type Mutation,
  type RecordedAnswer,
} from '../../kernel/mutation.ts'
import { eventOf, recordOf } from './audit.mutations.ts'
import { rowOf } from './audit.service.ts'
import { auditStore } from './audit.store.ts'

export type CombinedMutationsDeps = {
  db: Database
  nodeId: string
  recorder: AuditRecorder
  /** Answers the requests that another node has just done. */
  recordAnswers(
    tx: Transaction,
    answered: readonly { request: IdempotentRequest; answer: RecordedAnswer }[],
  ): Promise<readonly IdempotentRequest[]>
}

/**
 * Makes the combined form of `mutate`: one transaction and one statement of each kind for all
 * changes of a batch, and for each of them its own verdict, audit entry and record.
 */
export function createMutateMany(deps: CombinedMutationsDeps): MutateMany<Transaction> {
  const { db, nodeId, recorder, recordAnswers } = deps

  /** The audit entries and records of what was done. */
  async function recordDone(tx: Transaction, done: readonly DoneMutation[]) {
    const events = done.flatMap(([mutation, done]) => {
      const words = eventOf(mutation, done)
      return words === undefined ? [] : [recorder.prepare(words)]
    })
    // In memory the ring is the trail.
    if (db.durable && events.length > 0) {
      auditStore.insertAtCommit(
        tx,
        events.map((event) => rowOf(event, nodeId)),
      )
    }
    const answered = done.flatMap(([{ idempotent: request }, done]) => {
      return request === undefined ? [] : [{ request, answer: recordOf(request, done) }]
    })
    const taken = answered.length === 0 ? [] : await recordAnswers(tx, answered)
    if (taken.length > 0) throw new DoneElsewhere(taken)
    return events
  }

  return async (items, change, options) => {
    const doneElsewhere = new Set<IdempotentRequest>()
    for (;;) {
      const left = items.filter(({ mutation }) => !isAmong(doneElsewhere, mutation))
      try {
        const { results, events } = await db.transaction(async (tx) => {
          const results = await change(tx, left)
          return { results, events: await recordDone(tx, doneOf(left, results)) }
        }, options)
        committed(recorder, events)
        return inOrder(items, left, results)
      } catch (error) {
        if (!(error instanceof DoneElsewhere)) throw error
        // What the transaction holds for those must go, so the others are done once more.
        for (const request of error.requests) doneElsewhere.add(request)
      }
    }
  }
}

type DoneMutation = readonly [Mutation, Done<unknown>]

/** Ends a transaction in which some requests turned out to be done by another node. */
class DoneElsewhere extends Error {
  override readonly name = 'DoneElsewhere'
  readonly requests: readonly IdempotentRequest[]

  constructor(requests: readonly IdempotentRequest[]) {
    super('another node has just done some of these requests')
    this.requests = requests
  }
}

function isAmong(requests: ReadonlySet<IdempotentRequest>, { idempotent }: Mutation): boolean {
  return idempotent !== undefined && requests.has(idempotent)
}

function doneOf(
  items: readonly { mutation: Mutation }[],
  results: readonly CombinedResult<Done<unknown>>[],
): DoneMutation[] {
  return results.flatMap((result, index) => {
    const mutation = items[index]?.mutation
    return result.ok && mutation ? [[mutation, result.value] as const] : []
  })
}

function committed(recorder: AuditRecorder, events: readonly RecordedEvent[]): void {
  for (const event of events) recorder.committed(event)
}

/** One result per item: of its change, or that another node did it. */
function inOrder<I, T>(
  items: readonly I[],
  left: readonly I[],
  results: readonly CombinedResult<Done<T>>[],
): CombinedResult<T>[] {
  const byItem = new Map(left.map((item, index) => [item, results[index]]))
  return items.map((item) => {
    const result = byItem.get(item)
    if (result?.ok) return { ok: true, value: result.value.answer }
    return (
      result ?? { ok: false, error: new AlreadyDone('another node has just done this request') }
    )
  })
}
