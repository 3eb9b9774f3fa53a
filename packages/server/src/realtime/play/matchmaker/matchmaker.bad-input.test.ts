import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
  waiting,
} from '../../realtime.fixture.ts'
import { callMethod, joinAgain, joinAll, joinAs, type Player } from '../rooms/rooms.fixture.ts'
import { accept, add, cancel, matched, status } from './matchmaker.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

async function start(count: number, options: FixtureOptions = {}): Promise<Player[]> {
  realtime = await startRealtime(options)
  return joinAll(realtime, count)
}

const totals = () => realtime.gateway.matchmaker()

/** Of a query; its own tests hold what stands behind it. */
const noQuery: string = expect.stringMatching(/^invalid query: \S/)

describe('tickets', () => {
  test('[R-MM-1, R-MM-2, R-MM-5] queries, properties and counts one beyond their bounds', async () => {
    const [ann] = await start(1)
    const comparisons = (count: number) => Array(count).fill('a > 0').join(' AND ')
    const deep = (levels: number) => `${'('.repeat(levels)}a > 0${')'.repeat(levels)}`
    const properties = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index]))
    const refused: [object | string, string][] = [
      [{ query: 'a > 0'.padEnd(1025) }, noQuery],
      [{ query: comparisons(33) }, noQuery],
      [{ query: deep(17) }, noQuery],
      [{ query: 'a == "x' }, noQuery],
      [{ query: `a == "x'` }, noQuery],
      [{ query: 'a == "x""' }, noQuery],
      [{ query: 'a < 1e999' }, noQuery],
      [{ query: null }, noQuery],
      [{ wide_query: 'a > 0'.padEnd(1025) }, noQuery],
      [{ wide_query: null }, noQuery],
      [{ properties: null }, 'invalid properties'],
      [{ properties: properties(65) }, 'invalid properties'],
      [{ properties: { [`a${'b'.repeat(64)}`]: 1 } }, 'invalid properties'],
      [{ properties: { a: 'é'.repeat(129) } }, 'invalid properties'],
      [{ properties: { a: null } }, 'invalid properties'],
      [{ properties: { a: {} } }, 'invalid properties'],
      ['{"properties":{"a":1e999}}', 'invalid properties'],
      ['{"properties":{"":1}}', 'invalid properties'],
      [{ min_count: 3, max_count: 2 }, 'invalid count'],
      [{ min_count: 256 }, 'invalid count'],
      [{ min_count: 2.5 }, 'invalid count'],
      [{ min_count: null }, 'invalid count'],
      [{ min_count: 5, max_count: 7, count_multiple: 4 }, 'invalid count'],
      [{ count_multiple: 0 }, 'invalid count'],
      [{ count_multiple: 256, max_count: 255 }, 'invalid count'],
      [{ ttl_ms: null }, 'invalid ttl'],
      [{ ttl_ms: 1.5 }, 'invalid ttl'],
      [{ party_id: null }, 'party not found'],
      [{ party_id: {} }, 'party not found'],
      [{ backfill: 'yes' }, 'invalid JSON body'],
      ['[]', 'invalid JSON body'],
      ['{"query":""', 'invalid JSON body'],
      ['{"query":"","__proto__":{}}', 'invalid JSON body'],
    ]
    for (const [payload, text] of refused)
      expect([payload, await add(ann, payload)]).toEqual([payload, text])
    expect(totals().queued_tickets).toBe(0)
    const allowed: (object | string)[] = [
      { query: 'a > 0'.padEnd(1024), wide_query: comparisons(32) },
      { query: deep(16), properties: properties(64) },
      { properties: { [`a${'b'.repeat(63)}`]: 'é'.repeat(128) } },
      { min_count: 255, max_count: 255, count_multiple: 255, ttl_ms: 3_600_000 },
      { min_count: 2, max_count: 5, count_multiple: 4, ttl_ms: 1 },
      '{"query":"__proto__ == 1 AND constructor == 2","properties":{"__proto__":1,"constructor":2}}',
    ]
    for (const payload of allowed) {
      const id = await add(ann, payload)
      expect(id).toMatch(/^[A-Za-z0-9_-]{24}$/)
      expect(await cancel(ann, id)).toEqual({ cancelled: true })
    }
  })

  test('[R-MM-5, R-MM-6] names of the language are properties like any other', async () => {
    const [ann, bob, cid] = await start(3)
    const odd =
      '{"query":"__proto__ == 1 AND toString == 2","properties":{"__proto__":1,"toString":2}}'
    await add(ann, odd)
    await add(bob, { query: 'constructor != 1' })
    await realtime.clock.advance(250)
    expect(totals().queued_tickets).toBe(2)
    await add(cid, odd)
    await matched(ann)
    expect(totals()).toMatchObject({ queued_tickets: 1, matches_formed_total: 1 })
  })

  test('[R-MM-1, R-MM-5, S-HK-8] integers of 64 bits are compared, and reach the script whole', async () => {
    const [ann, bob] = await start(2)
    const seen: unknown[] = []
    realtime.script.onMatched = ({ members }) => {
      seen.push(...members.map(({ properties }) => properties))
      return { status: 'absent' }
    }
    const ticket = (score: string) => `{"query":"score > 9e15","properties":{"score":${score}}}`
    await add(ann, ticket('9007199254740993'))
    await add(bob, ticket('9223372036854775807'))
    await matched(ann)
    // The new ticket is the seed.
    expect(seen).toEqual([{ score: 9_223_372_036_854_775_807n }, { score: 9_007_199_254_740_993n }])
  })

  test('[R-MM-2] the queue takes max_tickets, offers included, and one more when one has left', async () => {
    const [ann, bob, cid] = await start(3, { matchmaker: { max_tickets: 2 } })
    const alone = { query: 'nobody == 1' }
    const first = await add(ann, alone)
    cid?.create('den')
    await cid?.line()
    const offer = realtime.gateway.backfill.add(1, 1, {})
    expect(offer).toEqual({ ticketId: expect.any(String) })
    expect(await add(bob, alone)).toBe('matchmaker is temporarily unavailable')
    await cancel(ann, first)
    expect(realtime.gateway.backfill.add(1, 1, {})).toEqual({ refusal: 'conflict' })
    expect(await add(bob, alone)).toMatch(/^.{24}$/)
    expect(await add(ann, alone)).toBe('matchmaker is temporarily unavailable')
  })

  test('[R-MM-9] a banned account is taken out of the queue, and nobody is matched with it', async () => {
    realtime = await startRealtime()
    const ann = await joinAs(realtime, 't-ann')
    const bob = await joinAs(realtime, 't-bob')
    await add(ann, { query: 'a == 1', properties: { a: 1 } })
    realtime.gateway.closeSessions(['s-ann'])
    await expect
      .poll(() => totals(), waiting)
      .toMatchObject({
        queued_tickets: 0,
        tickets_cancelled_total: 1,
      })
    const ticket = await add(bob, { properties: { a: 1 } })
    await realtime.clock.advance(250)
    expect(await status(bob, ticket)).toMatchObject({ last_reason: 'no_candidates' })
  })

  test('[R-MM-9] a ticket stays when one of several connections ends', async () => {
    realtime = await startRealtime()
    const ann = await joinAs(realtime, 't-ann')
    const phone = await joinAgain(realtime, 'ann')
    const ticket = await add(ann)
    ann.end()
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(1)
    expect(await status(phone, ticket)).toMatchObject({ state: 'queued' })
    phone.end()
    await expect.poll(() => totals().queued_tickets, waiting).toBe(0)
  })

  test('[R-MM-8, S-GATE-2] with a closed gate nobody queues, waits in vain or enters', async () => {
    const [ann, bob, cid] = await start(3)
    const ticket = await add(ann)
    realtime.script.isGateOpen = false
    expect(await add(bob)).toBe('game script unavailable')
    await realtime.clock.advance(1000)
    expect(await status(ann, ticket)).toMatchObject({ state: 'queued', last_reason: 'gate_closed' })
    realtime.script.isGateOpen = true
    await add(bob)
    const match = await matched(ann)
    realtime.script.isGateOpen = false
    expect(await accept(ann, match)).toBe('game script unavailable')
    realtime.script.isGateOpen = true
    expect(await accept(ann, match)).toEqual({ accepted: true, match_id: match.match_id })
    expect(await cancel(cid, ticket)).toEqual({ cancelled: false })
  })
})

describe('matches', () => {
  test('[R-MM-4, R-MM-12] tickets and tokens of others, old ones, and what is no token', async () => {
    const [ann, bob, cid] = await start(3, { matchmaker: { handoff_ttl_ms: 90_000 } })
    const ticket = await add(ann)
    await add(bob)
    const [first, second] = [await matched(ann), await matched(bob)]
    const gone = 'match handoff not found or expired'
    expect(await status(cid, ticket)).toBe('ticket not found')
    expect(await status(bob, ticket)).toBe('ticket not found')
    expect(await accept(cid, first)).toBe(gone)
    expect(await accept(bob, { ...second, join_token: first.join_token })).toBe(gone)
    expect(await accept(bob, { ...second, ticket_id: ticket })).toBe(gone)
    for (const join_token of ['', 'x'.repeat(42), `${'x'.repeat(42)}=`, 5, null]) {
      const match = { ...second, join_token } as unknown as typeof second
      expect(await accept(bob, match)).toBe('invalid match join token')
    }
    expect(await accept(bob, second)).toMatchObject({ accepted: true })
    await bob?.line()
    // A finished ticket is seen for 60 s, and longer by those whose token is good.
    await realtime.clock.advance(60_000)
    expect(await status(ann, ticket)).toMatchObject({ state: 'matched', match: { match_id: 1 } })
    expect(await status(bob, second.ticket_id)).toBe('ticket not found')
    await realtime.clock.advance(30_000)
    expect(await status(ann, ticket)).toBe('ticket not found')
    expect(await accept(ann, first)).toBe(gone)
  })

  test('[R-MM-11] of accepts from two connections of an account the first wins', async () => {
    realtime = await startRealtime()
    const ann = await joinAs(realtime, 't-ann')
    const phone = await joinAgain(realtime, 'ann')
    const bob = await joinAs(realtime, 't-bob')
    await add(ann)
    await add(bob)
    const [first, second] = [await matched(ann), await matched(phone)]
    expect(second).toEqual(first)
    const answers = await Promise.all([accept(phone, second), accept(ann, first)])
    expect(answers.filter((answer) => typeof answer !== 'string')).toEqual([
      { accepted: true, match_id: 1 },
    ])
    expect(answers).toContain('match handoff not found or expired')
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 1 }])
  })

  test('[R-MM-4, R-MM-12] the token of a room that has ended is none', async () => {
    const [ann, bob] = await start(2)
    realtime.script.boundTo = { revision_id: 'r', generation: 1 }
    const ticket = await add(ann)
    await add(bob)
    const match = await matched(ann)
    realtime.gateway.closeBoundRooms(1)
    const found = await status(ann, ticket)
    expect([found.state, found.match]).toEqual(['matched', undefined])
    expect(await accept(ann, match)).toBe('match handoff not found or expired')
    await realtime.clock.advance(60_000)
    expect(await status(ann, ticket)).toBe('ticket not found')
    expect(await realtime.gateway.rooms()).toEqual([])
  })

  test('[R-MM-10] who leaves while the script is asked gets no token, the others get theirs', async () => {
    realtime = await startRealtime()
    const [ann, bob] = [await joinAs(realtime, 't-ann'), await joinAs(realtime, 't-bob')]
    const label = Promise.withResolvers<{ status: 'absent' }>()
    realtime.script.onMatched = () => label.promise
    await add(ann)
    const ticket = await add(bob)
    await expect.poll(() => realtime.gateway.rooms(), waiting).toHaveLength(1)
    expect(await status(bob, ticket)).toMatchObject({ state: 'matched' })
    expect(await cancel(bob, ticket)).toEqual({ cancelled: false })
    ann.end()
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(1)
    label.resolve({ status: 'absent' })
    const match = await matched(bob)
    expect(await accept(bob, match)).toEqual({ accepted: true, match_id: 1 })
    await bob.line()
    bob.leave()
    await bob.line()
    // Nothing holds the place of who did not come.
    expect(await realtime.gateway.rooms()).toEqual([])
  })

  test('[R-MM-10] a script that fails beyond words leaves the default label and ends nothing', async () => {
    const [ann, bob] = await start(2)
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    realtime.script.onMatched = () => Promise.reject(new Error('a bug of the host'))
    await add(ann)
    await add(bob)
    expect(await accept(ann, await matched(ann))).toMatchObject({ accepted: true })
    expect(await ann?.line()).toBe('joined 1 default/matchmaker')
    expect(realtime.log.lines).toContainEqual(
      expect.objectContaining({ message: 'the label of a formed match failed' }),
    )
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('[R-MM-10] a match of everybody who has gone leaves no room behind', async () => {
    const [ann, bob] = await start(2)
    const label = Promise.withResolvers<{ status: 'absent' }>()
    realtime.script.onMatched = () => label.promise
    await add(ann)
    await add(bob)
    await expect.poll(() => realtime.gateway.rooms(), waiting).toHaveLength(1)
    ann?.end()
    bob?.end()
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(0)
    label.resolve({ status: 'absent' })
    await expect.poll(() => realtime.gateway.rooms(), waiting).toEqual([])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) formation_abandoned')
  })
})

describe('offers', () => {
  test('[R-MM-15, R-MM-16] a room that others have filled takes nobody beyond its places', async () => {
    const [host, other, ann] = await start(3)
    realtime.script.onRoomCreate = () => ({ status: 'answered', value: { max_players: 2 } })
    host?.create('den')
    await host?.line()
    const offer = realtime.gateway.backfill.add(1, 1, {})
    expect(offer).toEqual({ ticketId: expect.any(String) })
    other?.joinRoom(1)
    await other?.line()
    const ticket = await add(ann, { min_count: 2, max_count: 4 })
    await realtime.clock.advance(500)
    expect(await status(ann, ticket)).toMatchObject({ state: 'queued' })
    other?.leave()
    await other?.line()
    await realtime.clock.advance(250)
    expect(await matched(ann)).toMatchObject({ match_id: 1 })
  })

  test('[R-MM-15, R-MM-17] the end of an offer leaves the next one of its room alone', async () => {
    const [host, ann] = await start(2)
    host?.create('den')
    await host?.line()
    const { backfill } = realtime.gateway
    const first = backfill.add(1, 1, {})
    if (!('ticketId' in first)) throw new Error(first.refusal)
    await add(ann, { min_count: 2, max_count: 9 })
    await matched(ann)
    backfill.cancel(first.ticketId)
    const second = backfill.add(1, 2, { ttlMs: 100_000 })
    if (!('ticketId' in second)) throw new Error(second.refusal)
    // The token of the first one runs out.
    await realtime.clock.advance(30_000)
    expect(backfill.status(second.ticketId)).toEqual({ seats: 2, waiting: 0 })
    expect(backfill.add(1, 1, {})).toEqual({ refusal: 'conflict' })
    expect(
      await callMethod(host as Player, 'matchmaker.status', { ticket_id: second.ticketId }),
    ).toBe('ticket not found')
  })

  test('[R-MM-17] an offer ends by its ttl and with its room, and waits while the gate is closed', async () => {
    const [host, ann] = await start(2)
    host?.create('den')
    await host?.line()
    const { backfill } = realtime.gateway
    const brief = backfill.add(1, 1, { ttlMs: 1000 })
    if (!('ticketId' in brief)) throw new Error(brief.refusal)
    realtime.script.isGateOpen = false
    expect(backfill.add(1, 1, {})).toEqual({ refusal: 'unavailable' })
    await realtime.clock.advance(1100)
    expect(backfill.status(brief.ticketId)).toBeNull()
    realtime.script.isGateOpen = true
    const next = backfill.add(1, 1, {})
    if (!('ticketId' in next)) throw new Error(next.refusal)
    host?.leave()
    await host?.line()
    expect(backfill.status(next.ticketId)).toBeNull()
    const ticket = await add(ann, { min_count: 2, max_count: 9 })
    await realtime.clock.advance(250)
    expect(await status(ann, ticket)).toMatchObject({ last_reason: 'no_candidates' })
  })
})
