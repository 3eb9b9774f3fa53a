import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import { type Lease, LeaseLost } from '../../kernel/tasks/lease.ts'
import type { Database, Transaction } from '../database.ts'
import { leaseRows } from './lease-rows.ts'

export type LeasesDeps = {
  db: Database
  clock: Clock
  log: Log
  /** The boot that holds what is taken here. */
  holder: string
  /** Life of a lease that is not renewed; it counts by the database's clock. */
  lifeMs: number
}

/** The leases of one node. */
export type Leases = {
  /** The lease of this name; the same one at every call. */
  of(name: string): Lease<Transaction>
  /** Takes or renews all of them; to be called every `renewMs`. A failing one stops no other. */
  keep(): Promise<void>
  release(): Promise<void>
  /** A third of a lease's life. */
  readonly renewMs: number
}

export function createLeases(deps: LeasesDeps): Leases {
  const leases = new Map<string, Lease<Transaction>>()
  return {
    of(name) {
      const lease = leases.get(name) ?? createLease(name, deps)
      leases.set(name, lease)
      return lease
    },
    async keep() {
      await each(leases.values(), (lease) => lease.keep(), 'leases could not be renewed')
    },
    async release() {
      await each(leases.values(), (lease) => lease.release(), 'leases could not be released')
    },
    renewMs: Math.floor(deps.lifeMs / 3),
  }
}

/** A lease that this node took; `token` distinguishes this taking from every other. */
type Taken = { token: number; renewedAtMs: number }

/** When a lease is renewed, and how long it is believed after that; both default to its thirds. */
type Times = { renewAfterMs?: number; heldMs?: number }

export function createLease(name: string, deps: LeasesDeps, times: Times = {}): Lease<Transaction> {
  const { db, clock, log, holder, lifeMs } = deps
  // Two thirds of its life after the last renewal: so the others can only take it later.
  const { renewAfterMs = lifeMs / 3, heldMs = (lifeMs * 2) / 3 } = times
  let taken: Taken | undefined
  let keeping: Promise<boolean> | undefined

  const held = () => taken !== undefined && clock.monotonicMs() - taken.renewedAtMs < heldMs

  async function renew({ token, renewedAtMs }: Taken): Promise<void> {
    const askedAtMs = clock.monotonicMs()
    if (askedAtMs - renewedAtMs < renewAfterMs) return
    const renewed = await db.run(rows.renew, { name, holder, token, life_ms: lifeMs })
    if (taken?.token !== token) return
    taken = renewed > 0 ? { token, renewedAtMs: askedAtMs } : undefined
    if (renewed === 0) log.warn('lost a lease to another node', { lease: name, token })
  }

  async function take(): Promise<void> {
    // Counted from before the question, so that it never ends later here than in the database.
    const renewedAtMs = clock.monotonicMs()
    const row = await db.get(rows.take, { name, holder, life_ms: lifeMs })
    if (row === undefined) return
    taken = { token: row.token, renewedAtMs }
    log.info('took a lease', { lease: name, token: row.token })
  }

  /** The row stays locked until the commit, so no node takes the lease in between. */
  async function fence(tx: Transaction, token: number): Promise<void> {
    if ((await tx.get(rows.own, { name, holder, token })) !== undefined) return
    if (taken?.token === token) taken = undefined
    throw new LeaseLost(`the lease ${name} is not this node's any more`)
  }

  async function keepOnce(): Promise<boolean> {
    if (taken !== undefined) await renew(taken)
    if (taken === undefined) await take()
    return held()
  }

  const lease: Lease<Transaction> = {
    name,
    held,
    // Calls meanwhile share the answer: two takings at once would undo each other.
    keep() {
      keeping ??= keepOnce().finally(() => {
        keeping = undefined
      })
      return keeping
    },
    async transaction(body, options) {
      if (taken === undefined || !held()) throw new LeaseLost(`the lease ${name} is not held`)
      const { token } = taken
      return db.transaction(
        async (tx) => {
          await fence(tx, token)
          return body(tx)
        },
        { ...options, long: true },
      )
    },
    async release() {
      // What is being taken or renewed is there only when that has ended.
      await keeping?.catch(() => undefined)
      if (taken === undefined) return
      const { token } = taken
      taken = undefined
      await db.run(rows.release, { name, holder, token })
    },
  }
  return lease
}

async function each<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  complaint: string,
): Promise<void> {
  const outcomes = await Promise.allSettled([...items].map(work))
  const errors = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []))
  if (errors.length > 0) throw new AggregateError(errors, complaint)
}

/** What belonged to a boot that has ended is free at once. */
const rows = leaseRows(
  'leases',
  `EXISTS (SELECT 1 FROM node_boots b
    WHERE b.boot_id = leases.holder AND b.ended_at_unix_ms IS NOT NULL
      AND leases.name NOT LIKE 'node/%')`,
)
