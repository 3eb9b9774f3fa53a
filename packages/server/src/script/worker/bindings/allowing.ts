import { scriptApi } from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import { invalidArgument } from '../errors.ts'
import { HostMap } from '../host-map.ts'

const { key: keySchema } = scriptApi.allow.args

type Bucket = { tokens: number; atMs: number; limit: number; windowMs: number }

const limitMax = 1_000_000
const windowMsMax = 86_400_000
/** Beyond this many keys, the one used longest ago goes. */
const keysMax = 100_000

/** `allow`: counters of tokens that come back evenly. They are gone with the worker. */
export function createAllowBinding(clock: Pick<Clock, 'monotonicMs'>) {
  const buckets = new HostMap<string, Bucket>()

  function keep(key: string, bucket: Bucket): void {
    // What is set anew stands last: the first is the one used longest ago.
    buckets.delete(key)
    buckets.set(key, bucket)
    if (buckets.size <= keysMax) return
    const oldest = buckets.keys().next().value
    if (oldest !== undefined) buckets.delete(oldest)
  }

  return {
    allow(key: unknown, limit: unknown, window_ms: unknown): boolean {
      if (typeof key !== 'string' || !(buckets.has(key) || isKey(key))) {
        throw invalidArgument('allow: key must be 1 to 256 bytes without control characters')
      }
      const tokens = checkedCount('allow: limit', limit, limitMax)
      const windowMs = checkedCount('allow: window_ms', window_ms, windowMsMax)
      const nowMs = clock.monotonicMs()
      const known = buckets.get(key)
      const bucket =
        known?.limit === tokens && known.windowMs === windowMs
          ? refilled(known, nowMs)
          : { tokens, atMs: nowMs, limit: tokens, windowMs }
      const isAllowed = bucket.tokens >= 1
      if (isAllowed) bucket.tokens -= 1
      keep(key, bucket)
      return isAllowed
    },
  }
}

function isKey(key: string): boolean {
  return keySchema.safeParse(key).success
}

function refilled(bucket: Bucket, nowMs: number): Bucket {
  const { limit, windowMs } = bucket
  const gained = ((nowMs - bucket.atMs) * limit) / windowMs
  return { ...bucket, tokens: Math.min(limit, bucket.tokens + gained), atMs: nowMs }
}

function checkedCount(name: string, value: unknown, most: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) {
    return value
  }
  throw invalidArgument(`${name} must be an integer from 1 to ${most}`)
}
