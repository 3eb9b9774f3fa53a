import { kinds } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import {
  bytesOf,
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
  waiting,
} from '../../realtime.fixture.ts'
import { callMethod, joinAll, joinAs, type Player, playerOf } from '../rooms/rooms.fixture.ts'
import { accept, add, matched, status } from './matchmaker.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

async function start(count: number, options: FixtureOptions = {}): Promise<Player[]> {
  realtime = await startRealtime(options)
  return joinAll(realtime, count)
}

const noQuery = (problem: string) => `invalid query: ${problem}`

describe('tickets', () => {
  test('[R-MM-2] what is wrong with a ticket is said by its own text', async () => {
    const [ann] = await start(1)
    const refusals: [unknown, string][] = [
      ['', 'invalid JSON body'],
      [{ color: 1 }, 'invalid JSON body'],
      [{ query: 'a =' }, noQuery('there is no sign, name, number or text at character 3')],
      [{ query: 5 }, noQuery('it is no text')],
      [{ wide_query: '(' }, noQuery('the name of a property is expected at character 2')],
      [{ properties: [] }, 'invalid properties'],
      [{ properties: { and: 1 } }, 'invalid properties'],
      [{ properties: { 'a b': 1 } }, 'invalid properties'],
      [{ properties: { a: true } }, 'invalid properties'],
      [{ properties: { a: 'x'.repeat(257) } }, 'invalid properties'],
      [
        { properties: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`p${i}`, 1])) },
        'invalid properties',
      ],
      [{ min_count: 1 }, 'invalid count'],
      [{ min_count: 3, max_count: 2 }, 'invalid count'],
      [{ max_count: 256 }, 'invalid count'],
      [{ min_count: 5, max_count: 7, count_multiple: 4 }, 'invalid count'],
      [{ min_count: '2' }, 'invalid count'],
      [{ ttl_ms: 0 }, 'invalid ttl'],
      [{ ttl_ms: 3_600_001 }, 'invalid ttl'],
      [{ party_id: 'none' }, 'party not found'],
    ]
    for (const [payload, text] of refusals) {
      if (ann === undefined) throw new Error('no client')
      expect(await callMethod(ann, 'matchmaker.add', payload)).toBe(text)
    }
    realtime.script.isGateOpen = false
    if (ann) expect(await callMethod(ann, 'matchmaker.add', {})).toBe('game script unavailable')
    realtime.script.isGateOpen = true
    const own = { properties: JSON.parse('{"__proto__":1}'), ttl_ms: 1000 }
    expect(await add(ann, own)).toMatch(/^[A-Za-z0-9_-]{24}$/)
    if (ann) expect(await callMethod(ann, 'matchmaker.add', {})).toBe('ticket already queued')
  })

  test("[R-MM-3] only a queued ticket of one's own is cancelled", async () => {
    const [ann, bob] = await start(2)
    const ticket_id = await add(ann)
    const cancel = (client: Player | undefined, id: unknown) =>
      client && callMethod(client, 'matchmaker.cancel', { ticket_id: id })
    expect(await cancel(bob, ticket_id)).toEqual({ cancelled: false })
    expect(await cancel(ann, 7)).toEqual({ cancelled: false })
    expect(await cancel(ann, ticket_id)).toEqual({ cancelled: true })
    expect(await cancel(ann, ticket_id)).toEqual({ cancelled: false })
    expect(await status(ann, ticket_id)).toMatchObject({ state: 'removed', last_reason: null })
    expect(await status(bob, ticket_id)).toBe('ticket not found')
    await realtime.clock.advance(60_001)
    expect(await status(ann, ticket_id)).toBe('ticket not found')
  })

  test('[R-MM-9] a ticket ends with its ttl and with the last connection of its account', async () => {
    realtime = await startRealtime()
    const ann = await joinAs(realtime, 't-ann')
    const bob = await joinAs(realtime, 't-bob')
    const short = await add(ann, { ttl_ms: 1000 })
    await realtime.clock.advance(999)
    expect(await status(ann, short)).toMatchObject({ state: 'queued', waited_ms: 999 })
    await realtime.clock.advance(101)
    expect((await ann.next()).kind).toBe(kinds.NOTIFICATION.first)
    expect(await status(ann, short)).toMatchObject({ state: 'removed' })
    await add(bob)
    bob.end()
    await expect
      .poll(() => realtime.gateway.matchmaker(), waiting)
      .toMatchObject({
        queued_tickets: 0,
        tickets_expired_total: 1,
        tickets_cancelled_total: 1,
      })
  })

  test('[R-MM-14, R-MM-8] the status says why nobody was found, and that the gate is closed', async () => {
    const [ann, bob] = await start(2)
    const ticket_id = await add(ann, { query: 'region == "eu"', min_count: 3, max_count: 4 })
    await realtime.clock.advance(250)
    expect(await status(ann, ticket_id)).toMatchObject({
      candidates_seen: 0,
      last_reason: 'no_candidates',
    })
    await add(bob)
    await realtime.clock.advance(250)
    expect(await status(ann, ticket_id)).toMatchObject({
      candidates_seen: 1,
      last_reason: 'incompatible',
    })
    realtime.script.isGateOpen = false
    expect(await status(ann, ticket_id)).toMatchObject({ last_reason: 'gate_closed' })
  })
})

describe('matches', () => {
  test('[R-MM-10, R-MM-12] two that fit get tokens and enter their room by them', async () => {
    const [ann, bob, cid] = await start(3)
    const eu = { query: 'region == "eu"', properties: { region: 'eu' } }
    const ticket = await add(ann, eu)
    await add(cid, { properties: { region: 'us' } })
    await add(bob, eu)
    const first = await matched(ann)
    const second = await matched(bob)
    expect(first).toEqual({
      ticket_id: ticket,
      match_id: 1,
      join_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expires_at: realtime.clock.nowUnixMs() + 30_000,
    })
    expect(second.join_token).not.toBe(first.join_token)
    expect(await status(ann, ticket)).toMatchObject({
      state: 'matched',
      match: { match_id: 1, join_token: first.join_token },
    })
    expect(await realtime.gateway.rooms()).toMatchObject([
      { map: 'default', mode: 'matchmaker', max_players: 2, open: false, players: 0, name: null },
    ])
    cid?.joinRoom(1)
    expect(await cid?.line()).toBe('rejected 22 room is closed')
    expect(await accept(ann, first)).toEqual({ accepted: true, match_id: 1 })
    expect(await ann?.line()).toBe('joined 1 default/matchmaker')
    expect(await accept(ann, first)).toBe('match handoff not found or expired')
    expect(await accept(bob, first)).toBe('match handoff not found or expired')
    expect(await accept(bob, { ...second, join_token: 'x' })).toBe('invalid match join token')
    expect(await accept(bob, second)).toEqual({ accepted: true, match_id: 1 })
    expect(realtime.script.matchEvents.find(({ event }) => event === 'join')).toMatchObject({
      properties: { region: 'eu' },
    })
    expect(realtime.script.matches().slice(0, 3)).toEqual([
      'created 1 (0)',
      'started 1 (1)',
      'join 1 1 (1)',
    ])
    expect(realtime.gateway.matchmaker()).toMatchObject({
      queued_tickets: 1,
      matches_formed_total: 1,
      tickets_formed_total: 2,
    })
  })

  test('[R-MM-11, R-REC-5] a room to which nobody comes ends when its tokens do', async () => {
    const [ann, bob] = await start(2)
    await add(ann)
    await add(bob)
    const match = await matched(ann)
    await realtime.clock.advance(29_999)
    expect((await realtime.gateway.rooms()).length).toBe(1)
    await realtime.clock.advance(1)
    expect(await realtime.gateway.rooms()).toEqual([])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) formation_abandoned')
    expect(await accept(ann, match)).toBe('match handoff not found or expired')
  })

  test('[R-MM-11, R-REC-3] an empty room waits for a token, and then ends as left', async () => {
    const [ann, bob] = await start(2)
    await add(ann)
    await add(bob)
    const match = await matched(ann)
    await accept(ann, match)
    await ann?.line()
    ann?.leave()
    expect(await ann?.line()).toBe('left 1')
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 0 }])
    await realtime.clock.advance(30_000)
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) final_departure')
  })

  test('[R-MM-10] the script sets the label; what is wrong leaves the default', async () => {
    const [ann, bob, cid, dan] = await start(4)
    let seen: unknown[] = []
    realtime.script.onMatched = ({ members }) => {
      seen = members
      return { status: 'answered', value: { map: 'arena', max_players: 4, open: true } }
    }
    await add(ann, { properties: { elo: 1 } })
    await add(bob)
    await matched(ann)
    expect(seen.length).toBe(2)
    expect(seen).toContainEqual({ user_id: null, participant: 1, properties: { elo: 1 } })
    expect(seen).toContainEqual({ user_id: null, participant: 2, properties: {} })
    expect(await realtime.gateway.room(1)).toMatchObject({
      map: 'arena',
      mode: 'matchmaker',
      open: true,
    })
    realtime.script.onMatched = () => ({ status: 'answered', value: { max_players: 1 } })
    await add(cid)
    await add(dan)
    await matched(cid)
    expect(await realtime.gateway.room(2)).toMatchObject({ map: 'default', max_players: 2 })
  })

  test('[R-MM-6, R-MM-7] after a while the wide query holds and a smaller group is enough', async () => {
    const [ann, bob] = await start(2)
    const narrow = { query: 'elo == 1', wide_query: '', properties: { elo: 2 }, max_count: 4 }
    await add(ann, narrow)
    await add(bob, narrow)
    await realtime.clock.advance(4900)
    expect(await realtime.gateway.rooms()).toEqual([])
    await realtime.clock.advance(300)
    expect((await matched(ann)).match_id).toBe(1)
  })

  test('[R-MM-13] without a room the tickets keep waiting', async () => {
    const [ann, bob, cid] = await start(3, { rooms: { max_rooms: 1 } })
    cid?.create('a')
    await cid?.line()
    const ticket = await add(ann)
    await add(bob)
    await realtime.clock.advance(250)
    expect(await status(ann, ticket)).toMatchObject({ state: 'queued', last_reason: 'no_room' })
    cid?.leave()
    await cid?.line()
    await realtime.clock.advance(250)
    expect((await matched(ann)).match_id).toBe(2)
  })
})

/** A script whose next answer for a match waits until it is given. */
function heldAnswer() {
  realtime.script.boundTo = { revision_id: 'r', generation: 1 }
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  realtime.script.onMatched = async () => {
    asked.resolve()
    await answer.promise
    return { status: 'answered', value: null }
  }
  return { asked: asked.promise, give: answer.resolve }
}

describe('a room that ends before anybody has a token', () => {
  test('[R-MM-13, R-CON-3] gives the tickets back to the queue with their age and counts none', async () => {
    const [ann, bob, cid] = await start(3)
    const held = heldAnswer()
    const older = await add(ann, { ttl_ms: 2000 })
    await realtime.clock.advance(100)
    const ticket = await add(bob)
    await held.asked
    expect(await status(bob, ticket)).toMatchObject({ state: 'matched', last_reason: null })
    realtime.gateway.closeBoundRooms(1)
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) formation_abandoned')
    held.give()
    await expect
      .poll(() => status(bob, ticket), waiting)
      .toMatchObject({ state: 'queued', last_reason: 'no_room' })
    expect(await add(bob)).toBe('ticket already queued')
    expect((await status(ann, older)).waited_ms).toBe(100)
    await realtime.clock.advance(250)
    const [first, second] = [await matched(ann), await matched(bob)]
    expect(first).toMatchObject({ ticket_id: older, match_id: 2 })
    expect(second).toMatchObject({ ticket_id: ticket, match_id: 2 })
    expect(realtime.gateway.matchmaker()).toMatchObject({
      queued_tickets: 0,
      matches_formed_total: 1,
      tickets_formed_total: 2,
      tickets_cancelled_total: 0,
    })
    expect(await accept(ann, first)).toMatchObject({ accepted: true })
    expect(await add(cid)).toMatch(/^[\w-]{24}$/)
  })

  test('[R-MM-2, R-MM-9] but not of those who have gone or queue anew', async () => {
    const [ann, bob, cid] = await start(3)
    const held = heldAnswer()
    const old = await add(ann)
    await add(bob)
    await held.asked
    bob?.close()
    await bob?.closed
    const young = await add(ann)
    realtime.gateway.closeBoundRooms(1)
    held.give()
    expect((await ann?.next())?.kind).toBe(kinds.NOTIFICATION.first)
    expect(await status(ann, old)).toMatchObject({ state: 'removed' })
    expect(await status(ann, young)).toMatchObject({ state: 'queued' })
    expect(realtime.gateway.matchmaker()).toMatchObject({
      queued_tickets: 1,
      matches_formed_total: 0,
      tickets_formed_total: 0,
      tickets_cancelled_total: 2,
    })
    const last = await add(cid)
    await realtime.clock.advance(250)
    expect(await matched(ann)).toMatchObject({ ticket_id: young })
    expect(await matched(cid)).toMatchObject({ ticket_id: last })
  })
})

describe('backfill', () => {
  test('[R-MM-15, R-MM-16, R-MM-17] a running room takes in who fits, and gets unused seats back', async () => {
    const [host, ann, bob] = await start(3)
    realtime.script.onRoomCreate = () => ({ status: 'answered', value: { max_players: 3 } })
    host?.create('a')
    await host?.line()
    const { backfill } = realtime.gateway
    const said = { query: 'elo > 5', properties: { mode: 'ffa' } }
    expect(backfill.add(9, 1, said)).toEqual({ refusal: 'not_found' })
    expect(backfill.add(1, 3, said)).toEqual({ refusal: 'conflict' })
    expect(backfill.add(1, 2, { query: '(' })).toEqual({
      refusal: 'invalid_argument',
      problem: noQuery('the name of a property is expected at character 2'),
    })
    const offer = backfill.add(1, 2, { ...said, ttlMs: 100_000 })
    if (!('ticketId' in offer)) throw new Error(offer.refusal)
    expect(backfill.add(1, 1, said)).toEqual({ refusal: 'conflict' })
    await add(ann, { query: 'mode == "ffa"', properties: { elo: 9 }, min_count: 2, max_count: 4 })
    const match = await matched(ann)
    expect(match.match_id).toBe(1)
    expect(backfill.status(offer.ticketId)).toEqual({ seats: 1, waiting: 1 })
    await add(bob, { properties: { elo: 9 }, backfill: false })
    await realtime.clock.advance(500)
    expect(backfill.status(offer.ticketId)).toEqual({ seats: 1, waiting: 1 })
    await realtime.clock.advance(30_000)
    expect(backfill.status(offer.ticketId)).toEqual({ seats: 2, waiting: 0 })
    await add(ann, { query: 'mode == "ffa"', properties: { elo: 9 }, min_count: 2, max_count: 4 })
    await accept(ann, await matched(ann))
    expect(await ann?.line()).toBe('joined 1 a/')
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 2 }])
    expect(backfill.status(offer.ticketId)).toEqual({ seats: 1, waiting: 0 })
    expect(backfill.cancel(offer.ticketId)).toBe(true)
    expect(backfill.cancel(offer.ticketId)).toBe(false)
    expect(backfill.status(offer.ticketId)).toBeNull()
  })
})

test('[R-LIM-5] an accept runs among the room requests of its connection', async () => {
  const [ann, bob] = await start(2)
  await add(ann)
  await add(bob)
  const match = await matched(ann)
  const { ticket_id, join_token } = match
  const payload = bytesOf(JSON.stringify({ ticket_id, join_token }))
  const held = Promise.withResolvers<{ status: 'absent' }>()
  realtime.script.onRoomCreate = () => held.promise
  const client = ann && playerOf(ann)
  client?.create('x')
  for (let count = 0; count < 4; count += 1) client?.create('y')
  if (client === undefined) throw new Error('no client')
  expect(await callMethod(client, 'matchmaker.accept', { ticket_id, join_token })).toBe(
    'too many requests',
  )
  expect(payload.length).toBeGreaterThan(0)
  held.resolve({ status: 'absent' })
  await client.lines(5)
  expect(await accept(ann, match)).toEqual({ accepted: true, match_id: 1 })
})
