import { expect, test } from 'vitest'
import { defaultLabel } from '../../rooms/requests/label-answers.ts'
import { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import { startPasses } from '../pass/pass.fixture.ts'
import { readQuery } from '../tickets/criteria.ts'
import { createOffers, type Offers } from './offers.ts'

const seeksNobody = { query: 'nobody == "there"' }

/** Passes over a queue, and rooms that offer a seat each, by id. */
function startOffers() {
  const taken: string[] = []
  let count = 0
  let offers: Offers | undefined
  const passes = startPasses({ fillOffers: (waiting, pass) => offers?.fill(waiting, pass) ?? [] })
  const rooms: Pick<Rooms, 'byId' | 'releasePlace'> = {
    byId(id) {
      const made = { id, matchId: `m${id}`, name: null, binding: null, label: defaultLabel('') }
      const room = new Room(made)
      // Somebody is on the way to it.
      room.heldPlaces = 1
      return room
    },
    releasePlace() {},
  }
  const made = createOffers({
    clock: passes.clock,
    rooms: rooms as Rooms,
    queue: passes.queue,
    accounts: { isOnline: () => true, contextOf: () => undefined, deliver() {} },
    handoffs: () => ({ give() {}, pass() {}, keep() {}, use: () => undefined, release() {} }),
    taken: ({ id }) => taken.push(id),
    membersMax: 1000,
    newId() {
      count += 1
      return `o${count}`
    },
  })
  offers = made
  const offer = (properties = {}) => {
    const query = readQuery('')
    if ('problem' in query) throw new Error('no query')
    return made.add({ roomId: count + 1, seats: 1, query, properties, ttlMs: 60_000 })
  }
  return { ...passes, offer, taken, cancel: made.cancel }
}

test('[R-MM-16, R-MM-8] offers look at 50,000 tickets between two passes, then groups have their turn', async () => {
  const { clock, ticketOf, offer, groups, taken } = startOffers()
  let looks = 0
  for (let count = 0; count < 500; count += 1) {
    const ticket = ticketOf(seeksNobody)
    const accepts = ticket.acceptsValues.bind(ticket)
    ticket.acceptsValues = (values) => {
      if (!('criteria' in values)) looks += 1
      return accepts(values)
    }
  }
  for (let count = 0; count < 250; count += 1) offer()
  offer({ region: 'eu' })
  const last = ticketOf({ query: 'region == "eu"' })
  const pair = { properties: { a: 'x' }, query: 'a == "x"', backfill: false, max_count: 2 }
  const [first, second] = [ticketOf(pair), ticketOf(pair)]
  await clock.advance(250)
  expect(looks).toBeGreaterThan(49_000)
  expect(looks).toBeLessThanOrEqual(50_000)
  expect(groups).toEqual([[first.id, second.id]])
  await clock.advance(250)
  expect(looks).toBeLessThanOrEqual(100_000)
  expect(taken).toEqual([])
  // Every offer has looked at every ticket: 251 at 501.
  await clock.advance(250)
  expect(taken).toEqual([last.id])
})

test('[R-MM-16, R-MM-7] new tickets are no reason to look at more', async () => {
  const { clock, passes, ticketOf, offer, taken } = startOffers()
  for (let count = 0; count < 500; count += 1) ticketOf(seeksNobody)
  for (let count = 0; count < 150; count += 1) offer()
  await clock.advance(250)
  offer({ region: 'eu' })
  const wanted = ticketOf({ query: 'region == "eu"' })
  passes.ticketAdded(wanted)
  await clock.advance(100)
  expect(taken).toEqual([])
  await clock.advance(150)
  expect(taken).toEqual([wanted.id])
})

test('[R-MM-16] an offer that ends while others wait for their turn is left out', async () => {
  const { clock, ticketOf, offer, cancel, taken } = startOffers()
  for (let count = 0; count < 500; count += 1) ticketOf(seeksNobody)
  const ids = Array.from({ length: 101 }, () => {
    const added = offer()
    return 'ticketId' in added ? added.ticketId : ''
  })
  await clock.advance(250)
  // The pass stopped at this one.
  cancel(ids[100] ?? '')
  const wanted = ticketOf({})
  await clock.advance(250)
  expect(taken).toEqual([wanted.id])
})
