import { afterOthers, atEndOfTurn, type Clock } from '../../kernel/clock.ts'
import { type ScanResult, scan } from './scan.ts'
import type { Ticket } from './ticket.ts'
import type { TicketQueue } from './ticket-queue.ts'

/** Runs passes over the queue, in slices, so that the event loop is never kept. */
export type Passes = {
  /** Has the new ticket looked at at the end of the turn. */
  ticketAdded(ticket: Ticket): void
  stop(): void
  counts(): { evaluations_total: number; evaluation_duration_us_total: number }
}

export type PassDeps = {
  clock: Clock
  queue: TicketQueue
  intervalMs: number
  widenAfterMs: number
  membersMax: number
  /** While it is false tickets wait and are not looked at. */
  gateOpen(): boolean
  /** Fills the offers of running rooms, before groups are looked for. */
  fillOffers(waiting: readonly Ticket[]): void
  /** Forms a match; false when there is no room for it. */
  form(group: readonly Ticket[]): boolean
}

const sliceMs = 20
/** The time is looked at after so many steps. */
const stepsPerLook = 64

export function createPasses(deps: PassDeps): Passes {
  const { clock, queue, widenAfterMs, membersMax } = deps
  let added: Ticket[] = []
  /** What is due: a pass over everybody, or only from the new ones. */
  let due: 'all' | 'added' | undefined
  let isRunning = false
  let isStopped = false
  let passes = 0
  let durationUs = 0

  const timer = clock.every(deps.intervalMs, () => request('all'))

  function request(what: 'all' | 'added'): void {
    if (due !== 'all') due = what
    if (isRunning || isStopped) return
    isRunning = true
    if (what === 'added') atEndOfTurn(() => void runDue())
    else void runDue()
  }

  async function runDue(): Promise<void> {
    while (due !== undefined && !isStopped) {
      const what = due
      due = undefined
      const seeds = what === 'added' ? added : undefined
      added = []
      if (queue.size > 0) await inSlices(pass(seeds))
    }
    isRunning = false
  }

  async function inSlices(steps: Generator<void, void>): Promise<void> {
    passes += 1
    for (;;) {
      const startMs = clock.monotonicMs()
      const isDone = slice(steps, startMs + sliceMs)
      const tookMs = clock.monotonicMs() - startMs
      durationUs += Math.round(tookMs * 1000)
      if (isDone || isStopped) return
      await clock.sleep(tookMs)
      await afterOthers()
    }
  }

  function slice(steps: Generator<void, void>, untilMs: number): boolean {
    for (let step = 1; ; step += 1) {
      if (steps.next().done) return true
      if (step % stepsPerLook === 0 && clock.monotonicMs() >= untilMs) return false
    }
  }

  /** One pass, from these seeds or from everybody. Tickets come and go while it is paused. */
  function* pass(seeds: readonly Ticket[] | undefined): Generator<void, void> {
    if (!deps.gateOpen()) return
    const waiting = queue.byAge()
    const nowMs = clock.monotonicMs()
    for (const ticket of waiting) ticket.isWide ||= nowMs - ticket.createdMs >= widenAfterMs
    deps.fillOffers(waiting)
    for (const seed of seeds ?? waiting) {
      while (seed.state === 'queued') {
        const found = yield* scanFrom(seed, waiting)
        if (!deps.gateOpen()) return
        if (found === undefined) continue
        settle(seed, found)
        break
      }
    }
  }

  /** Undefined when somebody of the group left meanwhile, and the seed has to start again. */
  function* scanFrom(
    seed: Ticket,
    waiting: readonly Ticket[],
  ): Generator<void, ScanResult<Ticket> | undefined> {
    const others = Iterator.from(waiting).filter(({ state }) => state === 'queued')
    const found = yield* scan(seed, others, { membersMax, longEnough: seed.isWide })
    return found.group?.some(({ state }) => state !== 'queued') ? undefined : found
  }

  function settle(seed: Ticket, { group, seen, reason }: ScanResult<Ticket>): void {
    seed.seen = seen
    if (reason !== null) seed.reason = reason
    if (group === undefined || deps.form(group)) return
    for (const ticket of group) ticket.reason = 'no_room'
  }

  return {
    ticketAdded(ticket) {
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
