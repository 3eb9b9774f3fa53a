/** How many calls a connection has left; undefined is a full bucket. */
export type RateBucket = { tokens: number; filledAtMs: number }

export type Rate = { burst: number; perSec: number }

/** Takes one call. Undefined when there is none left. */
export function takeCall(
  bucket: RateBucket | undefined,
  rate: Rate,
  nowMs: number,
): RateBucket | undefined {
  return takeCalls(bucket, rate, { calls: 1, nowMs })
}

/** Takes as many calls as something costs. Undefined when fewer are left. */
export function takeCalls(
  bucket: RateBucket | undefined,
  { burst, perSec }: Rate,
  { calls, nowMs }: { calls: number; nowMs: number },
): RateBucket | undefined {
  const gained = bucket === undefined ? burst : ((nowMs - bucket.filledAtMs) / 1000) * perSec
  const tokens = Math.min(burst, (bucket?.tokens ?? 0) + gained)
  return tokens < calls ? undefined : { tokens: tokens - calls, filledAtMs: nowMs }
}
