import type { Clock } from '../../../kernel/clock.ts'
import { limitGroup } from '../../../kernel/http/request/source-address.ts'

const failuresMax = 20
const minuteMs = 60_000
/** Sources that are counted in one minute; those beyond are not. */
const sourcesMax = 10_000

/** How many uploads run at once, and how often a source failed in the running minute. */
export function createUploadLimits({ clock, atOnce }: { clock: Clock; atOnce: number }) {
  let failures = new Map<string, number>()
  let minute = -1
  let running = 0

  function current(): Map<string, number> {
    const now = Math.floor(clock.monotonicMs() / minuteMs)
    if (now !== minute) failures = new Map()
    minute = now
    return failures
  }

  return {
    isThrottled: (source: string) => (current().get(limitGroup(source)) ?? 0) >= failuresMax,
    failed(source: string): void {
      const counts = current()
      const group = limitGroup(source)
      const known = counts.get(group)
      if (known !== undefined || counts.size < sourcesMax) counts.set(group, (known ?? 0) + 1)
    },
    /** Runs an upload; undefined when too many run already. */
    async run<T>(upload: () => Promise<T>): Promise<T | undefined> {
      if (running >= atOnce) return undefined
      running += 1
      try {
        return await upload()
      } finally {
        running -= 1
      }
    },
  }
}
