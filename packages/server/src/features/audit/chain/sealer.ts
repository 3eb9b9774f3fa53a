import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { type Lease, LeaseLost } from '../../../kernel/tasks/lease.ts'
import { chainStore, type UnsealedRow } from './chain.store.ts'
import { type Link, linkHash, origin } from './chain.ts'

export type SealerDeps = {
  db: Database
  clock: Clock
  log: Log
  /** One sealer works at a time, so that the chain has one order. */
  lease: Lease<Transaction>
  /** `logs.audit_chain_key`: with it the links are HMACs. */
  key: string | undefined
  /** Rows of one transaction. */
  batchItems?: number
}

export type Sealer = {
  /**
   * Links what is committed and not linked yet, if this node holds the lease. Calls `progress` for
   * every batch.
   */
  seal(progress?: () => void): Promise<void>
  /**
   * Whether a row was waiting for more than 10 seconds when this node last looked, or it lacks the
   * key of the chain.
   */
  behind(): boolean
  /** Says what the chain ends with, so that a log kept elsewhere can vouch for it. */
  logHead(): Promise<void>
}

/** Rows are linked within a second, of which looking for them may take half, in milliseconds. */
export const sealIntervalMs = 500
export const headIntervalMs = 86_400_000
const behindAfterMs = 10_000
/** A batch keeps an embedded file, and so everybody else who writes, for some milliseconds. */
const batchItemsMax = 250

/**
 * Makes the sealer. Mutations add their rows to a table without indexes and never wait for each
 * other; the sealer moves committed rows into the chain, whose order is that in which it meets
 * them.
 */
export function createSealer(deps: SealerDeps): Sealer {
  const { db, clock, log, lease, key, batchItems = batchItemsMax } = deps
  let isBehind = false
  let lacksKey = false
  let last: Promise<unknown> = Promise.resolve()

  async function sealBatch(tx: Transaction): Promise<number> {
    const rows = await chainStore.unsealed(tx, batchItems)
    look(rows[0])
    if (rows.length === 0 || (await isKeyMissing(tx))) return 0
    let head: Link = (await chainStore.end(tx, 'head')) ?? origin
    const keyed = key === undefined ? 0 : 1
    const seals = firstOfEach(rows).map(({ number, sealed_as: _, ...row }) => {
      const seq = head.seq + 1
      head = { seq, hash: linkHash(head.hash, { ...row, seq, keyed }, key) }
      return { number, seq, hash: head.hash, keyed }
    })
    await chainStore.seal(tx, seals)
    await chainStore.moveEnd(tx, 'head', head)
    await chainStore.removeUnsealed(tx, rows)
    return rows.length
  }

  /** Without the key nothing is linked behind what was linked with it, which anybody could do. */
  async function isKeyMissing(tx: Queries): Promise<boolean> {
    const wasMissing = lacksKey
    lacksKey = key === undefined && (await chainStore.endsKeyed(tx))
    if (lacksKey && !wasMissing) {
      log.error(
        'the audit chain was linked with logs.audit_chain_key, which this node does not have: ' +
          'it links nothing',
      )
    }
    return lacksKey
  }

  function look(oldest: { time_unix_ms: number } | undefined): void {
    isBehind = oldest !== undefined && clock.nowUnixMs() - oldest.time_unix_ms > behindAfterMs
  }

  async function sealAll(progress: () => void): Promise<void> {
    if (!(await lease.keep())) return
    for (;;) {
      const startedMs = clock.monotonicMs()
      // The lock on the lease keeps other sealers out; serializable, it could make a mutation that
      // adds its row meanwhile start again.
      const sealed = await lease.transaction(sealBatch, { isolation: 'read committed' })
      progress()
      if (sealed < batchItems) break
      // Those who add rows come first, also when there are many to seal.
      const tookMs = clock.monotonicMs() - startedMs
      if (tookMs > 0) await clock.sleep(tookMs)
    }
    isBehind = false
  }

  async function sealOnce(progress: () => void): Promise<void> {
    const isMissing = await isKeyMissing(db)
    const oldest = await chainStore.oldestUnsealed(db)
    look(oldest)
    if (oldest === undefined || isMissing) return
    try {
      await sealAll(progress)
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
    }
  }

  return {
    // The lease keeps other nodes out, but not a second run on this one.
    seal(progress = () => {}) {
      const run = last.then(() => sealOnce(progress))
      last = run.catch(() => {})
      return run
    },
    behind: () => isBehind || lacksKey,
    async logHead() {
      const { seq, hash } = (await chainStore.end(db, 'head')) ?? origin
      log.info('the audit chain ends here', { seq, hash: Buffer.from(hash).toString('hex') })
    },
  }
}

/** What a queue writes again, because it did not hear of the commit, is one entry. */
function firstOfEach(rows: readonly UnsealedRow[]): UnsealedRow[] {
  const seen = new Set<string>()
  return rows.filter(({ id, sealed_as }) => {
    const isFirst = sealed_as === null && !seen.has(id)
    seen.add(id)
    return isFirst
  })
}
