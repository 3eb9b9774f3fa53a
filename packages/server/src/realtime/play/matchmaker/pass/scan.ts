/** What a scan looks at of a ticket. */
export type Candidate = {
  /** Players, 1 or the members of a party. */
  size: number
  minCount: number
  maxCount: number
  countMultiple: number
  /** Whether this one's query fits the other's properties. */
  accepts(other: Candidate): boolean
}

export type ScanResult<Ticket> = {
  /** Who plays together; undefined when nobody does yet. */
  group: Ticket[] | undefined
  /** Other tickets that were looked at. */
  seen: number
  reason: ScanReason | null
}

export type ScanReason = 'no_candidates' | 'incompatible' | 'too_few' | 'waiting_for_more'

export type ScanOptions<Ticket> = {
  membersMax: number
  /** Whether the seed has waited long enough for less than the largest legal size. */
  longEnough: boolean
  /** Whether one of the others may be taken; asked when its turn comes. */
  isWaiting(other: Ticket): boolean
  /** Whether the caller wants the event loop back, asked before so many comparisons. */
  mustPause(comparisons?: number): boolean
}

/**
 * Looks for a group around `seed`: the others are tried in the order given, which is by age, and
 * each is added that fits everybody in the group, as long as the group can still become a legal
 * size. A legal size is a number of players within the bounds of every ticket, divisible by every
 * multiple and at most `membersMax`. The largest legal size forms the group at once; a smaller one
 * only when the others are through and the seed has waited `longEnough`.
 *
 * Yields where `mustPause` says so, and goes on from there.
 */
export function* scan<Ticket extends Candidate>(
  seed: Ticket,
  others: Iterable<Ticket>,
  { membersMax, longEnough, isWaiting, mustPause }: ScanOptions<Ticket>,
): Generator<void, ScanResult<Ticket>> {
  const group = [seed]
  let bounds = narrowed({ min: 1, max: membersMax, multiple: 1 }, seed)
  let total = seed.size
  let seen = 0
  let fitsSeed = false
  // How many tickets of the group made up the last legal total.
  let legal = isLegal(total, bounds) ? 1 : 0
  for (const other of others) {
    if (total === largestLegal(bounds)) break
    if (other === seed || !isWaiting(other)) continue
    if (mustPause()) yield
    seen += 1
    if (!fitsBoth(seed, other)) continue
    fitsSeed = true
    if (mustPause(group.length)) yield
    if (!group.every((member) => member === seed || fitsBoth(member, other))) continue
    const narrower = narrowed(bounds, other)
    if (largestLegal(narrower) < total + other.size) continue
    group.push(other)
    bounds = narrower
    total += other.size
    if (isLegal(total, bounds)) legal = group.length
  }
  if (total === largestLegal(bounds)) return { group, seen, reason: null }
  if (legal > 0 && longEnough) return { group: group.slice(0, legal), seen, reason: null }
  return { group: undefined, seen, reason: reasonFor({ legal, seen, fitsSeed }) }
}

function reasonFor(found: { legal: number; seen: number; fitsSeed: boolean }): ScanReason {
  if (found.legal > 0) return 'waiting_for_more'
  if (found.seen === 0) return 'no_candidates'
  return found.fitsSeed ? 'too_few' : 'incompatible'
}

export function fitsBoth(one: Candidate, other: Candidate): boolean {
  return one.accepts(other) && other.accepts(one)
}

type Bounds = { min: number; max: number; multiple: number }

function narrowed({ min, max, multiple }: Bounds, ticket: Candidate): Bounds {
  return {
    min: Math.max(min, ticket.minCount),
    max: Math.min(max, ticket.maxCount),
    multiple: leastCommonMultiple(multiple, ticket.countMultiple),
  }
}

/** 0 when there is none. */
function largestLegal({ min, max, multiple }: Bounds): number {
  const largest = Math.floor(max / multiple) * multiple
  return largest >= min ? largest : 0
}

function isLegal(total: number, { min, max, multiple }: Bounds): boolean {
  return total >= min && total <= max && total % multiple === 0
}

function leastCommonMultiple(one: number, other: number): number {
  let [a, b] = [one, other]
  while (b > 0) [a, b] = [b, a % b]
  return (one / a) * other
}
