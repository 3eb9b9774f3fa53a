import type { HandlerFailure } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { Failed } from '../log/failure-log.ts'

/** Distinct by handler and place; beyond this many the one that was seen longest ago goes. */
const failuresMax = 100

/** A script may throw whole documents. */
const reasonChars = 1_024

/** The distinct failures of handlers, for operators. */
export function createFailureList(clock: Pick<Clock, 'nowUnixMs'>) {
  /** In the order in which they were last seen. */
  const failures = new Map<string, HandlerFailure>()

  return {
    record({ hook, name, kind, place, reason, revision_id }: Failed): void {
      const key = JSON.stringify([hook, name, place ?? { kind }])
      const nowUnixMs = clock.nowUnixMs()
      const known = failures.get(key)
      failures.delete(key)
      failures.set(key, {
        hook,
        name,
        reason: reason.slice(0, reasonChars),
        place,
        count: (known?.count ?? 0) + 1,
        first_at_unix_ms: known?.first_at_unix_ms ?? nowUnixMs,
        last_at_unix_ms: nowUnixMs,
        revision_id,
      })
      if (failures.size > failuresMax) dropOldest(failures)
    },
    /** Newest first. */
    items: (): HandlerFailure[] => [...failures.values()].reverse(),
  }
}

function dropOldest(failures: Map<string, HandlerFailure>): void {
  for (const key of failures.keys()) {
    failures.delete(key)
    return
  }
}
