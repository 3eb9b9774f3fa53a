import { atEndOfTurn, type Clock } from '../../../../kernel/clock.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import { createSlices } from '../../../../kernel/time/slices.ts'
import type { AccountKey } from '../../accounts.port.ts'
import type { OfferPass } from '../offers/offers.ts'
import { byAge, type Ticket } from '../tickets/ticket.ts'
import type { TicketQueue } from '../tickets/ticket-queue.ts'
import { isStillAlone } from './lonely.ts'
import { type ScanResult, scan } from './scan.ts'

/** Runs passes over the queue, in slices, so that the event loop is never kept. */
export type Passes = {
  /**
   * The new ticket is a seed at the end of the turn, if it is the first of its account since the
   * last pass over everybody; else it waits for the next one.
   */
  ticketAdded(ticket: Ticket): void
  stop(): void
  counts(): { evaluations_total: number; evaluation_duration_us_total: number }
}

export type PassDeps = {
  clock: Clock
  log: Log
  queue: TicketQueue
  intervalMs: number
  widenAfterMs: number
  membersMax: number
  /** Takes out the tickets that have waited for too long. Yields where `mustPause` says so. */
  expire(mustPause: () => boolean): Iterable<void>
  /** While it is false tickets wait and are not looked at. */
  gateOpen(): boolean
  /** Fills the offers of running rooms, before groups are looked for. */
  fillOffers(waiting: readonly Ticket[], pass: OfferPass): Iterable<void>
  /** Forms a match; false when there is no room for it. */
  form(group: readonly Ticket[]): boolean
}

/**
 * A slice ends after this time. 20 ms would be allowed; but a request meanwhile waits for the slice
 * and for the handing over of what it has formed, and should not feel it.
 */
const sliceMs = 1

export function createPasses(deps: PassDeps): Passes {
  const { clock, queue, widenAfterMs, membersMax } = deps
  let added: Ticket[] = []
  /** What is due: a pass over everybody, or only from the new ones. */
  let due: 'all' | 'added' | undefined
  let isRunning = false
  let isStopped = false
  let passes = 0
  let durationUs = 0
  /** Accounts whose tickets were seeds of their own since the last pass over everybody. */
  const seeded = new Set<AccountKey>()
  const slices = createSlices(clock, sliceMs)
  const { mustPause } = slices

  const timer = clock.every(deps.intervalMs, () => request('all'))

  function request(what: 'all' | 'added'): void {
    if (due !== 'all') due = what
    if (isRunning || isStopped) return
    isRunning = true
    if (what === 'added') atEndOfTurn(() => void runDue())
    else void runDue()
  }

  /** Never rejects: what fails in one pass must neither end the node nor the passes behind it. */
  async function runDue(): Promise<void> {
    while (due !== undefined && !isStopped) {
      const seeds = due === 'added' ? added.sort(byAge) : undefined
      due = undefined
      added = []
      if (seeds === undefined) seeded.clear()
      if (queue.size === 0) continue
      try {
        passes += 1
        await slices.run(pass(seeds), countTime)
      } catch (error) {
        deps.log.error('a pass of the matchmaker failed', { error })
      }
    }
    isRunning = false
  }

  function countTime(tookMs: number): 'goes on' | 'ends' {
    durationUs += Math.round(tookMs * 1000)
    return isStopped ? 'ends' : 'goes on'
  }

  /** One pass, from these seeds or from everybody. Tickets come and go while it is paused. */
  function* pass(seeds: readonly Ticket[] | undefined): Generator<void, void> {
    if (!deps.gateOpen()) return
    yield* deps.expire(mustPause)
    const waiting = queue.byAge()
    const newestMs = waiting.at(-1)?.createdMs ?? 0
    const { givenBack } = queue
    // Who found nobody has not looked at those that came back meanwhile with their age.
    const alone = (wideUntilMs: number) =>
      queue.givenBack === givenBack ? { newestMs, wideUntilMs } : undefined
    const widen = widening(waiting)
    widen()
    yield* deps.fillOffers(waiting, { isWhole: seeds === undefined, mustPause })
    let candidates = waiting
    let left = 0
    for (const seed of seeds ?? waiting) {
      while (seed.state === 'queued') {
        if (mustPause()) yield
        const wideUntilMs = widen()
        const crowd = { byAge: candidates, wideUntilMs, mustPause }
        if (queue.size > 1 && (yield* isStillAlone(seed, crowd))) {
          seed.seen = queue.size - 1
          seed.alone = alone(wideUntilMs)
          break
        }
        const found = yield* scan(seed, candidates, {
          membersMax,
          longEnough: seed.isWide,
          isWaiting,
          mustPause,
        })
        if (!deps.gateOpen()) return
        // Somebody of the group may have left in a pause; then the seed starts again.
        if (seed.state !== 'queued' || found.group?.every(isWaiting) === false) continue
        seed.alone = found.reason === 'incompatible' ? alone(wideUntilMs) : undefined
        left += settle(seed, found)
        break
      }
      // A scan from the oldest should not meet all that have left again and again.
      if (2 * left < candidates.length) continue
      candidates = candidates.filter(isWaiting)
      left = 0
    }
  }

  /** Marks the tickets that have waited long enough by now; the last of them came at that time. */
  function widening(waiting: readonly Ticket[]): () => number {
    let next = 0
    return () => {
      const untilMs = clock.monotonicMs() - widenAfterMs
      for (; next < waiting.length; next += 1) {
        const ticket = waiting[next]
        if (ticket === undefined || ticket.createdMs > untilMs) break
        ticket.isWide = true
      }
      return untilMs
    }
  }

  /** How many tickets it takes out of the queue. */
  function settle(seed: Ticket, { group, seen, reason }: ScanResult<Ticket>): number {
    seed.seen = seen
    if (reason !== null) seed.reason = reason
    if (group === undefined) return 0
    // Forming is far more than a step.
    slices.lookSoon()
    if (deps.form(group)) return group.length
    for (const ticket of group) ticket.reason = 'no_room'
    return 0
  }

  return {
    ticketAdded(ticket) {
      const [account] = ticket.accounts
      // An account that cancels and adds all the time would have all tickets looked at each time.
      if (account === undefined || seeded.has(account)) return
      seeded.add(account)
      added.push(ticket)
      request('added')
    },
    stop() {
      isStopped = true
      timer.cancel()
    },
    counts: () => ({ evaluations_total: passes, evaluation_duration_us_total: durationUs }),
  }
}

function isWaiting({ state }: Ticket): boolean {
  return state === 'queued'
}
