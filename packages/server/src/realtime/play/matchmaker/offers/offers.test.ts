import { describe, expect, test } from 'vitest'
import { defaultLabel } from '../../rooms/requests/label-answers.ts'
import { Room } from '../../rooms/room.ts'
import type { Rooms } from '../../rooms/rooms.ts'
import { startPasses } from '../pass/pass.fixture.ts'
import { readQuery } from '../tickets/criteria.ts'
import type { Ticket } from '../tickets/ticket.ts'
import { recordOfTicket } from '../tickets/ticket-record.ts'
import { askedOf, type OfferRecord } from './offer.ts'
import { createOffers, type Offers, type OffersDeps } from './offers.ts'

const seeksNobody = { query: 'nobody == "there"' }

/** Passes over a queue, and rooms that offer a seat each, by id. */
function startOffers(order: OffersDeps['order'] = async () => 'silent') {
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
    handoffs: () => ({ give, pass() {}, keep() {}, use: () => undefined, release() {} }),
    taken: ({ id }) => taken.push(id),
    order: (boot, offerId, group) => order(boot, offerId, group),
    changed() {},
    ttl: { default_ttl_ms: 60_000, max_ttl_ms: 3_600_000 },
    membersMax: 1000,
    newId() {
      count += 1
      return `o${count}`
    },
  })
  offers = made
  function give(ticket: Ticket, account: string, room: Room): void {
    const token = `token ${ticket.handoffs.length + 1} of ${ticket.id}`
    const handoff = { ticket, account, room, token, expiresAtUnixMs: 0, state: 'valid' } as const
    ticket.handoffs = [...ticket.handoffs, handoff]
  }
  const offer = (properties = {}) => {
    const query = readQuery('')
    if ('problem' in query) throw new Error('no query')
    const asked = askedOf('', properties)
    return made.add({ roomId: count + 1, seats: 1, asked, query, properties, ttlMs: 60_000 })
  }
  return { ...passes, offer, offers: made, taken, cancel: made.cancel }
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

test('[R-MM-16, R-CL-12] an order that comes again takes no second seat', () => {
  const { offer, offers, ticketOf, clock } = startOffers()
  const made = offer()
  const id = 'ticketId' in made ? made.ticketId : ''
  const ticket = ticketOf({}, { accounts: ['ann'] })
  const record = { ...recordOfTicket(ticket, clock.monotonicMs()), asked: '{}' }
  const order = {
    ...{ offer_id: id, tickets: [record] },
    members: [{ account: 'ann', participant: 7, user_id: 'ann' }],
  }
  const first = offers.fillOrder(order)
  expect(first?.tokens).toMatchObject([{ ticket_id: ticket.id, account: 'ann' }])
  expect(offers.status(id)).toEqual({ seats: 0, waiting: 1 })
  expect(offers.fillOrder(order)).toEqual(first)
  expect(offers.status(id)).toEqual({ seats: 0, waiting: 1 })
})

/** An offer of a room of another node, where one member is. */
function recordOf(id: string, changes: Partial<OfferRecord> = {}): OfferRecord {
  const asked = askedOf('', {})
  const room = { room_id: 7, places: 1, places_max: 8 }
  return { id, asked, ...room, seats: 2, age_ms: 0, ttl_ms: 60_000, ...changes }
}

describe('offers of other nodes', () => {
  const inTurn = { isAll: false, over: [] }

  test('[R-MM-16, R-CL-12] their node is sent the oldest tickets that fit, up to the seats', async () => {
    const sent: string[][] = []
    const { clock, ticketOf, offers } = startOffers(async (...[boot, id, group]) => {
      sent.push([boot, id, ...group.map((ticket) => ticket.id)])
      return []
    })
    const query = 'mode == "duel"'
    offers.offered('bt1-2', { ...inTurn, records: [recordOf('o', { asked: askedOf(query, {}) })] })
    ticketOf({ min_count: 3, properties: { mode: 'race' } })
    const fitting = [1, 2, 3].map(() => ticketOf({ min_count: 3, properties: { mode: 'duel' } }))
    await clock.advance(250)
    expect(sent).toEqual([['bt1-2', 'o', fitting[0]?.id, fitting[1]?.id]])
    expect(fitting.map(({ state }) => state)).toEqual(['matched', 'matched', 'queued'])
  })

  test('[R-MM-13, R-MM-17] seats of tickets that it does not take are free again', async () => {
    let answer: (left: Ticket[] | 'silent') => void = () => {}
    const sent: string[] = []
    const { clock, ticketOf, offers } = startOffers((_, id) => {
      sent.push(id)
      return new Promise((resolve) => {
        answer = resolve
      })
    })
    offers.offered('bt1-2', { ...inTurn, records: [recordOf('o', { seats: 1 })] })
    const first = ticketOf({ min_count: 2 })
    await clock.advance(250)
    // Until the answer is there, what its node has said before counts for nothing.
    offers.offered('bt1-2', { ...inTurn, records: [recordOf('o', { seats: 1 })] })
    const second = ticketOf({ min_count: 2 })
    await clock.advance(250)
    expect(sent).toEqual(['o'])
    answer([first])
    await clock.advance(250)
    expect(second.state).toBe('matched')
    answer('silent')
    await clock.advance(250)
    expect(offers.size).toBe(0)
  })

  test('[R-MM-17] they end when their node says so, does not name them, or is gone', async () => {
    const { offers } = startOffers()
    const say = (boot: string, said: object) => {
      offers.offered(boot, { ...inTurn, records: [], ...said })
    }
    say('bt1-2', { records: ['a', 'b', 'c'].map((id) => recordOf(id)) })
    say('bt1-3', { records: [recordOf('d'), recordOf('a')] })
    expect(offers.size).toBe(4)
    say('bt1-2', { over: ['a', 'd'] })
    expect(offers.size).toBe(3)
    say('bt1-2', { isAll: true, records: [recordOf('b')] })
    expect(offers.size).toBe(2)
    offers.forget((boot) => boot === 'bt1-3')
    expect(offers.size).toBe(1)
    expect(offers.cancel('b')).toBe(false)
    expect(offers.status('b')).toBeNull()
    expect(offers.records()).toEqual([])
  })

  test('[R-CL-14] what no script can have offered is left out', () => {
    const { offers } = startOffers()
    const records = ['{', '{"query":"(","properties":{}}', '{"query":"","properties":[]}', '7']
    offers.offered('bt1-2', {
      ...inTurn,
      records: records.map((asked, at) => recordOf(`${at}`, { asked })),
    })
    expect(offers.size).toBe(0)
  })
})
