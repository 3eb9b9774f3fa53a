import type { Clock } from '../../../kernel/clock.ts'
import { type Rate, type RateBucket, takeCall } from '../rpc/rate-bucket.ts'

/** How many invitations accounts may still send and be sent. */
export type InvitationRates = {
  /** Counts an invitation; false, and nothing is counted, when one of its bounds is reached. */
  take(sender: string, target: string): boolean
  /** How many buckets are kept. */
  readonly size: number
}

const minuteMs = 60_000
const perMinute = (burst: number): Rate => ({ burst, perSec: burst / 60 })

/** By one sender, to one target by all together, and by one sender to one target. */
const rates = { sender: perMinute(10), target: perMinute(10), pair: perMinute(2) }

/**
 * A bucket is full again a minute after its last invitation and need not be kept longer. So there
 * are at most three for each invitation of the last minute, of which every account sends ten.
 */
export function createInvitationRates(clock: Pick<Clock, 'monotonicMs'>): InvitationRates {
  /** The least recently used first. */
  const buckets = new Map<string, RateBucket>()

  function forgetFull(nowMs: number): void {
    for (const [key, { filledAtMs }] of buckets) {
      if (nowMs - filledAtMs < minuteMs) return
      buckets.delete(key)
    }
  }

  return {
    take(sender, target) {
      const nowMs = clock.monotonicMs()
      forgetFull(nowMs)
      const wanted = [
        { key: `sender ${sender}`, rate: rates.sender },
        { key: `target ${target}`, rate: rates.target },
        { key: `pair ${sender} ${target}`, rate: rates.pair },
      ]
      const taken = wanted.map(({ key, rate }) => ({
        key,
        bucket: takeCall(buckets.get(key), rate, nowMs),
      }))
      if (taken.some(({ bucket }) => bucket === undefined)) return false
      for (const { key, bucket } of taken) {
        buckets.delete(key)
        if (bucket !== undefined) buckets.set(key, bucket)
      }
      return true
    },
    get size() {
      return buckets.size
    },
  }
}
