import type { Clock } from '../../../kernel/clock.ts'
import type { AccountKey } from '../accounts.port.ts'
import { type Rate, type RateBucket, takeCalls } from '../rpc/rate-bucket.ts'

/** How many members accounts may still have notified of their comings and goings. */
export type PresenceCosts = {
  /**
   * Counts a coming, with the going that follows it, in a room of so many members; false, and
   * nothing is counted, when the account has moved too many lately.
   */
  pay(account: AccountKey, members: number): boolean
  /** How many buckets are kept. */
  readonly size: number
}

/** One account that comes and goes moves a room of 1,000 at most 20 times a second. */
const rate: Rate = { burst: 40_000, perSec: 20_000 }
const fullAfterMs = (rate.burst / rate.perSec) * 1000

/**
 * A bucket belongs to the account and not to its connection: a return has a new connection each
 * time. It is full again two seconds after its last use and need not be kept longer.
 */
export function createPresenceCosts(clock: Pick<Clock, 'monotonicMs'>): PresenceCosts {
  /** The least recently used first. */
  const buckets = new Map<AccountKey, RateBucket>()

  function forgetFull(nowMs: number): void {
    for (const [account, { filledAtMs }] of buckets) {
      if (nowMs - filledAtMs < fullAfterMs) return
      buckets.delete(account)
    }
  }

  return {
    pay(account, members) {
      const nowMs = clock.monotonicMs()
      forgetFull(nowMs)
      const bucket = takeCalls(buckets.get(account), rate, { calls: 1 + members, nowMs })
      if (bucket === undefined) return false
      buckets.delete(account)
      buckets.set(account, bucket)
      return true
    },
    get size() {
      return buckets.size
    },
  }
}
