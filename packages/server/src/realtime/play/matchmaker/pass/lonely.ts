import type { Ticket } from '../tickets/ticket.ts'
import { fitsBoth } from './scan.ts'

/** The tickets of a pass by age, and up to when a ticket must have been added to be wide. */
export type Crowd = { byAge: readonly Ticket[]; wideUntilMs: number; mustPause(): boolean }

/**
 * Whether no ticket fits one that none fitted in its last scan. Without this a crowd that fits none
 * would be compared whole in every pass, and the tickets behind it would wait for that.
 */
export function* isStillAlone(seed: Ticket, crowd: Crowd): Generator<void, boolean> {
  const { alone } = seed
  if (alone === undefined) return false
  const { byAge, wideUntilMs, mustPause } = crowd
  const isWideSince = ({ createdMs, isWidening }: Ticket) =>
    isWidening && createdMs > alone.wideUntilMs && createdMs <= wideUntilMs
  if (isWideSince(seed)) return false
  const fits = (other: Ticket) =>
    other !== seed && other.state === 'queued' && fitsBoth(seed, other)
  for (let at = firstAfter(byAge, alone.wideUntilMs); at < byAge.length; at += 1) {
    const other = byAge[at]
    if (other === undefined || other.createdMs > wideUntilMs) break
    if (mustPause()) yield
    if (isWideSince(other) && fits(other)) return false
  }
  // Those of the same instant may have come behind the scan.
  for (let at = byAge.length - 1; at >= 0; at -= 1) {
    const other = byAge[at]
    if (other === undefined || other.createdMs < alone.newestMs) break
    if (mustPause()) yield
    if (fits(other)) return false
  }
  return true
}

/** The index of the first ticket that was added later. */
function firstAfter(byAge: readonly Ticket[], createdMs: number): number {
  let low = 0
  let high = byAge.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((byAge[middle]?.createdMs ?? 0) > createdMs) high = middle
    else low = middle + 1
  }
  return low
}
