import { createHmac, createSecretKey } from 'node:crypto'
import type { Database, Transaction } from '../../database/database.ts'
import { mergedTransactions } from '../../database/writes/merged-writes.ts'
import type { CombinedResult } from '../../kernel/batching/combiner.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import { admissionStore, type Window } from './admission.store.ts'
import { decide, type Judged } from './admission.verdicts.ts'

export const admissionRules = [
  'source',
  'email',
  'registration_source',
  'console_login',
  'console_login_source',
] as const
export type AdmissionRule = (typeof admissionRules)[number]

/** One limit of a request: the rule and what it counts by, e.g. the source address. */
export type PlannedRule = { rule: AdmissionRule; values: readonly string[] }

export type AdmissionDeps = {
  db: Database
  clock: Clock
  /** The deployment's secret: counters are found by keyed hashes, never by address or email. */
  secret: Uint8Array
  limits: Record<AdmissionRule, { limit: number; window_ms: number }>
  /** Counts refusals for the metrics. */
  count(rule: AdmissionRule): void
}

type Slot = Window & { rule: AdmissionRule; limit: number; id: string }
type Verdict = AdmissionRule | 'admitted'

/**
 * Fixed windows, aligned to the epoch and shared by the nodes of one database. All rules of a
 * request are checked before any is consumed. Requests that come while the counters are being
 * written are judged together in the next transaction, in the order in which they came.
 */
export function createAdmission({ db, clock, secret, limits, count }: AdmissionDeps) {
  const keyOf = cachedKeys(secret)
  const full = cachedFull()
  const judge = mergedTransactions<Judged<Slot>, Verdict>(db, {
    itemsMax: 256,
    run: judgeTogether,
  })

  /**
   * The counters may reach the disk a moment later: a sign-in with them is answered after
   * that, because the session is written behind them in the same log.
   */
  function judgeTogether(requests: readonly Judged<Slot>[]): Promise<CombinedResult<Verdict>[]> {
    return db.transaction(
      async (tx) => {
        // One order for all, so that two nodes never wait for each other's rows.
        const wanted = wantedBy(requests).sort((a, b) => (a.id < b.id ? -1 : 1))
        // Adding nothing also locks and reports, and a file is not written then: refusals cost
        // no flush.
        if (wanted.some(({ id }) => full.has(id))) for (const slot of wanted) slot.added = 0
        const rows = await admissionStore.addWanted(tx, wanted)
        const reached = new Map(rows.map((row) => [slotId(row), row.taken]))
        const countOf = ({ id }: Wanted) => reached.get(id) ?? 0
        const before = new Map(wanted.map((slot) => [slot.id, countOf(slot) - slot.added]))
        const { verdicts, taken } = decide(requests, before)
        // What was added and not taken; where nothing was added, below zero: what was taken.
        const excess = wanted.flatMap((slot) => {
          const surplus = countOf(slot) - (taken.get(slot.id) ?? 0)
          return surplus === 0 ? [] : [{ ...slot, surplus }]
        })
        if (excess.length > 0) await admissionStore.takeBack(tx, excess)
        for (const slot of verdicts) if (slot !== undefined) full.record(slot.id)
        return verdicts.map((slot) => ({ ok: true, value: slot?.rule ?? 'admitted' }))
      },
      { isolation: 'read committed', durable: 'later' },
    )
  }

  function slotsOf(plan: readonly PlannedRule[], now: number): Slot[] {
    return plan.map(({ rule, values }) => {
      const { limit, window_ms } = limits[rule]
      const starts_at_unix_ms = Math.floor(now / window_ms) * window_ms
      const key_digest = keyOf(rule, values)
      const window = {
        key_digest,
        starts_at_unix_ms,
        ends_at_unix_ms: starts_at_unix_ms + window_ms,
      }
      return { ...window, rule, limit, id: slotId(window) }
    })
  }

  /** Consumes one of each rule, or refuses with 429 and consumes nothing. */
  async function take(plan: readonly PlannedRule[]): Promise<Admitted> {
    const now = clock.nowUnixMs()
    const slots = slotsOf(plan, now)
    const verdict = await judge({ slots, change: 1 })
    if (verdict === 'admitted')
      return { giveBack: async () => void (await judge({ slots, change: -1 })) }
    count(verdict)
    // Until every window has rolled over, so that the answer does not reveal which rule matched.
    const endsAt = Math.max(...slots.map(({ ends_at_unix_ms }) => ends_at_unix_ms))
    throw refuse.rateLimited(Math.max(1, Math.ceil((endsAt - now) / 1000)), `limit ${verdict}`)
  }

  return {
    take,
    /** Removes up to `batchItems` windows that ended a minute ago; answers how many. */
    prune: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact((tx) =>
        admissionStore.pruneEnded(tx, {
          before_unix_ms: clock.nowUnixMs() - 60_000,
          batch_items: batchItems,
        }),
      ),
  }
}

/** An admitted request may give back what it took, when only failures count. */
export type Admitted = { giveBack(): Promise<void> }

/** What is kept at hand: the sources of one busy moment, and no list of who ever came. */
const keysMax = 1000

/**
 * The windows that were full when this node last met them. It decides nothing, for another node may
 * give back what was taken: they are only counted in another way, at the price of a refusal.
 */
function cachedFull() {
  const ids = new Set<string>()
  return {
    has: (id: string) => ids.has(id),
    record(id: string) {
      if (ids.size >= keysMax) ids.clear()
      ids.add(id)
    },
  }
}

/**
 * Makes the keyed hash of a rule and its values. One source asks again and again, so the newest
 * hashes are kept.
 */
function cachedKeys(secret: Uint8Array) {
  // Made once: from bytes, every HMAC would first make a key of its own, five times its work.
  const key = createSecretKey(secret)
  const known = new Map<string, Buffer>()
  return (rule: string, values: readonly string[]): Buffer => {
    const text = [rule, ...values].map((part) => `${Buffer.byteLength(part)}:${part};`).join('')
    const hash = known.get(text) ?? createHmac('sha256', key).update(text).digest()
    if (known.size >= keysMax) known.clear()
    known.set(text, hash)
    return hash
  }
}

function slotId(window: { key_digest: Uint8Array; starts_at_unix_ms: number }): string {
  return `${Buffer.from(window.key_digest).toString('latin1')}${window.starts_at_unix_ms}`
}

type Wanted = Slot & { added: number }

/** What requests would add to each of their windows, were all of them admitted. */
function wantedBy(requests: readonly Judged<Slot>[]): Wanted[] {
  const wanted = new Map<string, Wanted>()
  for (const { slots, change } of requests) {
    for (const slot of slots) {
      const added = (wanted.get(slot.id)?.added ?? 0) + change
      wanted.set(slot.id, { ...slot, added })
    }
  }
  return [...wanted.values()]
}
