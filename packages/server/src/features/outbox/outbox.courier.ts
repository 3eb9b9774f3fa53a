import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { within } from '../../kernel/time/within.ts'
import { type Claim, type ClaimedRow, outboxStore } from './outbox.store.ts'

/** Who receives the events of one kind. */
export type Consumer = { kind: string; slots: number } & (
  | {
      /** Part of the transaction that marks the event as delivered: exactly once. */
      within(tx: Transaction, payload: string): Promise<void>
    }
  | {
      /** Whether this node can deliver now; where it cannot, it claims nothing. */
      ready(): boolean
      /** Resolves when the event is done; one that rejects is delivered again: at least once. */
      outside(payload: string): Promise<void>
    }
)

export type CourierDeps = {
  db: Database
  clock: Clock
  log: Log
  consumers: readonly Consumer[]
}

export type Courier = {
  /** Claims and delivers what is waiting; resolves without waiting for slow consumers. */
  look(): Promise<void>
  /** Claims nothing more, and waits at most `timeoutMs` for what is under way. */
  stop(timeoutMs: number): Promise<void>
  counts(): { delivered: number; failed: number }
}

/** How often the courier looks, in milliseconds. */
export const courierIntervalMs = 500
/** A claim lasts this long: then the row is any node's again. */
const claimMs = 30_000
const retryFirstMs = 1000
const retryMaxMs = 300_000

/**
 * Delivers the rows of the outbox. Each row is claimed and delivered on its own and waits on its
 * own after a failure, so one that cannot be delivered holds up no other. A consumer has slots of
 * its own: a slow one does not hold up those of other kinds.
 */
export function createCourier({ db, clock, log, consumers }: CourierDeps): Courier {
  const underWay = new Set<Promise<void>>()
  const counts = { delivered: 0, failed: 0 }
  let stopped = false

  const mark = (tx: Queries, claim: Claim) =>
    outboxStore.markDelivered(tx, { ...claim, delivered_at_unix_ms: clock.nowUnixMs() })

  /** False when another claim has delivered the row meanwhile. */
  async function attempt(consumer: Consumer, claim: Claim, payload: string): Promise<boolean> {
    if ('outside' in consumer) {
      await consumer.outside(payload)
      return mark(db, claim)
    }
    return db.transaction(
      async (tx) => {
        const isFirst = await mark(tx, claim)
        if (isFirst) await consumer.within(tx, payload)
        return isFirst
      },
      { isolation: 'read committed', idempotent: true },
    )
  }

  async function deliver(consumer: Consumer, { id, attempts, payload }: ClaimedRow): Promise<void> {
    const claim = { id, attempts }
    try {
      if (await attempt(consumer, claim, payload)) counts.delivered += 1
    } catch (error) {
      counts.failed += 1
      log.warn('an event could not be delivered', { kind: consumer.kind, ...claim, error })
      await outboxStore.postpone(db, { ...claim, delay_ms: delayAfter(attempts) })
    }
  }

  function createLane(consumer: Consumer) {
    const { kind, slots } = consumer
    let taken = 0
    let claiming = false

    function start(row: ClaimedRow): void {
      const work: Promise<void> = deliver(consumer, row)
        // The claim ends by itself, so the row comes up again.
        .catch((error: unknown) => log.warn('an event stays claimed', { kind, error }))
        .then(async () => {
          taken -= 1
          // Whatever keeps this from going on is met, and reported, by the next look.
          await fill().catch(() => {})
        })
        .finally(() => underWay.delete(work))
      underWay.add(work)
    }

    /** Takes as many rows as there are free slots. */
    async function fill(): Promise<void> {
      if (stopped || claiming || taken >= slots) return
      if ('ready' in consumer && !consumer.ready()) return
      claiming = true
      try {
        if (!(await outboxStore.hasWaiting(db, kind))) return
        const request = { kind, claim_ms: claimMs, limit: slots - taken }
        const rows = await outboxStore.claim(db, request)
        taken += rows.length
        for (const row of rows) start(row)
      } finally {
        claiming = false
      }
    }
    return fill
  }

  const lanes = consumers.map(createLane)
  return {
    async look() {
      const looks = await Promise.allSettled(lanes.map((fill) => fill()))
      const errors = looks.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
      if (errors.length > 0) throw new AggregateError(errors, 'the outbox could not be read')
    },
    async stop(timeoutMs) {
      stopped = true
      await within(clock, timeoutMs, Promise.allSettled(underWay))
    },
    counts: () => ({ ...counts }),
  }
}

/** 1 s, doubling to 5 min. */
function delayAfter(attempts: number): number {
  return Math.min(retryFirstMs * 2 ** Math.min(attempts - 1, 20), retryMaxMs)
}
