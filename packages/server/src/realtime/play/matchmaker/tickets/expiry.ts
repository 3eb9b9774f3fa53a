import type { Clock } from '../../../../kernel/clock.ts'
import type { Log } from '../../../../kernel/log/log.ts'
import { createSlices } from '../../../../kernel/time/slices.ts'
import type { Ticket } from './ticket.ts'
import type { TicketQueue } from './ticket-queue.ts'

/** Takes out the tickets that have waited for too long. */
export type Expiry = {
  /** Now, for a pass; yields where `mustPause` says so. */
  takeOut(mustPause: () => boolean): Generator<void, void>
  stop(): void
}

type ExpiryDeps = {
  clock: Clock
  log: Log
  queue: TicketQueue
  expired(ticket: Ticket): void
}

const everyMs = 100
const sliceMs = 1

/** Thousands of tickets may be over at once, and each is pushed to its connections. */
export function createExpiry({ clock, log, queue, expired }: ExpiryDeps): Expiry {
  const slices = createSlices(clock, sliceMs)
  let isRunning = false

  function* takeOut(mustPause: () => boolean): Generator<void, void> {
    const nowMs = clock.monotonicMs()
    for (const ticket of queue.byAge()) {
      if (mustPause()) yield
      if (ticket.state !== 'queued' || nowMs < ticket.expiresMs) continue
      queue.finish(ticket, 'removed')
      expired(ticket)
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    try {
      await slices.run(takeOut(slices.mustPause))
    } catch (error) {
      log.error('tickets could not be taken out', { error })
    }
    isRunning = false
  }

  const timer = clock.every(everyMs, () => {
    if (queue.size > 0 && !isRunning) void run()
  })
  return { takeOut, stop: timer.cancel }
}
