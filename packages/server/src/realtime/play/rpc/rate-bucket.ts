/** How many calls a connection has left; undefined is a full bucket. */
export type RateBucket = { tokens: number; filledAtMs: number }

export type Rate = { burst: number; perSec: number }

/** Takes one call. Undefined when there is none left. */
export function takeCall(
  bucket: RateBucket | undefined,
  { burst, perSec }: Rate,
  nowMs: number,
): RateBucket | undefined {
  const gained = bucket === undefined ? burst : ((nowMs - bucket.filledAtMs) / 1000) * perSec
  const tokens = Math.min(burst, (bucket?.tokens ?? 0) + gained)
  return tokens < 1 ? undefined : { tokens: tokens - 1, filledAtMs: nowMs }
}
