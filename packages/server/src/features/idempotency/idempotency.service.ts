import { timingSafeEqual } from 'node:crypto'
import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import {
  AlreadyDone,
  type Idempotency,
  type IdempotentRequest,
  type RecordedAnswer,
} from '../../kernel/mutation.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import { late, within } from '../../kernel/time/within.ts'
import { idempotencyStore, recordLifeMs } from './idempotency.store.ts'

/** A repeat waits this long for the first request to end, in milliseconds. */
const waitMs = 10_000

/**
 * Requests that may be repeated: the record is written in the transaction of the change, so that a
 * repeat after a lost answer changes nothing and gets the same again.
 */
export function createIdempotency({ db, clock }: { db: Database; clock: Clock }) {
  const running = new Map<string, PromiseWithResolvers<void>>()

  async function recorded(request: IdempotentRequest): Promise<RecordedAnswer | undefined> {
    const record = await idempotencyStore.find(db, keyOf(request))
    if (record === undefined || record.created_at_unix_ms <= expired()) return undefined
    if (!timingSafeEqual(record.body_digest, request.body_digest)) {
      throw refuse.conflict('the Idempotency-Key was used with another body')
    }
    if (!request.recordsAnswer) {
      throw refuse.conflict('this was done already; its secret is not shown again')
    }
    return { status: record.status, body: record.answer }
  }

  function expired(): number {
    return clock.nowUnixMs() - recordLifeMs
  }

  const idempotency: Idempotency = {
    async enter(request) {
      const name = nameOf(keyOf(request))
      const giveUpAtMs = clock.monotonicMs() + waitMs
      for (let first = running.get(name); first !== undefined; first = running.get(name)) {
        const outcome = await within(clock, giveUpAtMs - clock.monotonicMs(), first.promise)
        if (outcome === late) throw refuse.conflict('the same request is still running')
      }
      running.set(name, Promise.withResolvers<void>())
      try {
        const answer = await recorded(request)
        if (answer !== undefined) idempotency.leave(request)
        return answer
      } catch (error) {
        idempotency.leave(request)
        throw error
      }
    },
    leave(request) {
      const name = nameOf(keyOf(request))
      running.get(name)?.resolve()
      running.delete(name)
    },
  }

  /**
   * Writes records in the transaction of their changes; answers which requests could not be
   * recorded, because another node has just done them.
   */
  async function recordAll(
    tx: Transaction,
    answered: readonly { request: IdempotentRequest; answer: RecordedAnswer }[],
  ): Promise<IdempotentRequest[]> {
    const created_at_unix_ms = clock.nowUnixMs()
    const records = answered.map(({ request, answer: { status, body } }) => ({
      ...keyOf(request),
      body_digest: request.body_digest,
      status,
      answer: request.recordsAnswer ? body : null,
      created_at_unix_ms,
    }))
    const keys = await idempotencyStore.insert(tx, records)
    const written = new Set(keys.map(nameOf))
    const requests = answered.map(({ request }) => request)
    return requests.filter((request) => !written.has(nameOf(keyOf(request))))
  }

  return {
    ...idempotency,
    recordAll,
    /** Writes the record in the transaction of the change. */
    async record(tx: Transaction, request: IdempotentRequest, answer: RecordedAnswer) {
      const taken = await recordAll(tx, [{ request, answer }])
      if (taken.length > 0) throw new AlreadyDone('another node has just done this request')
    },
    /** Removes up to `batchItems` records past their life; answers how many. */
    prune: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact((tx) =>
        idempotencyStore.prune(tx, { expired_unix_ms: expired(), batch_items: batchItems }),
      ),
  }
}

function keyOf({ principal, target, key }: IdempotentRequest) {
  return { principal, target, idempotency_key: key }
}

function nameOf({ principal, target, idempotency_key }: ReturnType<typeof keyOf>): string {
  return JSON.stringify([principal, target, idempotency_key])
}
