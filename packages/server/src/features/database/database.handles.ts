import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'

const lifeMs = 5 * 60_000
const handlesMax = 100_000

/** Values that the server keeps for a caller, who holds only a random text for each. */
export type Handles<T> = {
  /** A new handle, of 43 characters, for five minutes. */
  issue(value: T): string
  find(handle: string): T | undefined
}

/** One store for all handles of a node; beyond 100,000 the oldest go first. */
export function createHandles<T>({ clock, ids }: { clock: Clock; ids: Ids }): Handles<T> {
  // In the order of their making, and so of their end.
  const kept = new Map<string, { value: T; untilMs: number }>()
  return {
    issue(value) {
      const nowMs = clock.monotonicMs()
      for (const [handle, { untilMs }] of kept) {
        if (untilMs > nowMs && kept.size < handlesMax) break
        kept.delete(handle)
      }
      const handle = ids.bytes(32).toString('base64url')
      kept.set(handle, { value, untilMs: nowMs + lifeMs })
      return handle
    },
    find(handle) {
      const found = kept.get(handle)
      return found === undefined || found.untilMs <= clock.monotonicMs() ? undefined : found.value
    },
  }
}
