import type { JsonObject } from '@guildhall/contract'
import { createRecordedLog } from '../../../../kernel/log/log.fake.ts'
import { busyClock } from '../../../../kernel/time/busy-clock.fixture.ts'
import { readCriteria } from '../tickets/criteria.ts'
import { Ticket } from '../tickets/ticket.ts'
import { createTicketQueue } from '../tickets/ticket-queue.ts'
import { createPasses, type PassDeps } from './pass.ts'

/** Passes over a queue, with a clock that stands still but for the work that a test pretends. */
type TicketOptions = { size?: number; ageMs?: number; id?: string; accounts?: string[] }

export function startPasses(options: Partial<PassDeps> = {}) {
  const { clock, work, slices } = busyClock()
  const log = createRecordedLog()
  const queue = createTicketQueue(clock)
  const groups: string[][] = []
  let made = 0
  const passes = createPasses({
    clock,
    log,
    queue,
    intervalMs: 250,
    widenAfterMs: 5000,
    membersMax: 1000,
    expire: () => [],
    gateOpen: () => true,
    fillOffers: () => [],
    form(group) {
      for (const ticket of group) queue.finish(ticket, 'matched')
      groups.push(group.map(({ id }) => id))
      return true
    },
    ...options,
  })

  /** A ticket of so many players, as if it had been added so long ago. */
  function ticketOf(payload: JsonObject, options: TicketOptions = {}): Ticket {
    const { size = 1, ageMs = 0, id = '' } = options
    const criteria = readCriteria(payload, { default_ttl_ms: 60_000, max_ttl_ms: 60_000 })
    if (typeof criteria === 'string') throw new Error(criteria)
    made += 1
    const name = id === '' ? `t${String(made).padStart(6, '0')}` : id
    const accounts =
      options.accounts ?? Array.from({ length: size }, (_, index) => `${name}-${index}`)
    const createdMs = clock.monotonicMs() - ageMs
    const ticket = new Ticket({
      asked: '',
      id: name,
      criteria,
      accounts,
      partyId: undefined,
      createdMs,
    })
    queue.add(ticket)
    return ticket
  }

  return { clock, work, slices, log, queue, passes, groups, ticketOf }
}

/** Time passes by the timers of a test, and by the work it pretends to do. */
