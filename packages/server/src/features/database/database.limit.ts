import type { OperatorPrincipal } from '../../kernel/auth/principal.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'

const windowMs = 60_000
const requestsMax = 60

/** Admits 60 requests of a caller per minute of the clock, on this node. */
export function createExplorerLimit(clock: Clock) {
  let window = -1
  let taken = new Map<string, number>()

  /** @throws Failure `rate_limited` until the minute is over */
  return (principal: OperatorPrincipal): void => {
    const nowUnixMs = clock.nowUnixMs()
    const present = Math.floor(nowUnixMs / windowMs)
    if (present !== window) {
      window = present
      taken = new Map()
    }
    const caller = callerOf(principal)
    const requests = (taken.get(caller) ?? 0) + 1
    taken.set(caller, requests)
    if (requests <= requestsMax) return
    const leftSec = Math.ceil(((present + 1) * windowMs - nowUnixMs) / 1000)
    throw refuse.rateLimited(leftSec, 'the minute of the explorer is used up')
  }
}

/** The same name is the same caller, whatever it may do; keys have ids. */
function callerOf(principal: OperatorPrincipal): string {
  return principal.kind === 'human'
    ? `human ${principal.username}`
    : `key ${principal.credential_id}`
}
