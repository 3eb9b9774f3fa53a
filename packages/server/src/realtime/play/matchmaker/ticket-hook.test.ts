import { expect, test } from 'vitest'
import { afterOthers } from '../../../kernel/clock.ts'
import type { HookAnswer, TicketRequest } from '../../../kernel/play/room-hooks.ts'
import { crowds } from '../parties/parties.fixture.ts'
import { add, matched, status } from './matchmaker.fixture.ts'

const crowd = crowds()

const answered = (value: unknown): HookAnswer => ({ status: 'answered', value })
const ticketId = /^[A-Za-z0-9_-]{24}$/
test('[R-MM-18] the script is asked about the whole request, nothing left out', async () => {
  const { realtime, ann } = await crowd.start()
  const asked: TicketRequest[] = []
  realtime.script.onTicketAdd = (context, request) => {
    expect(context.participant).toBeGreaterThan(0)
    asked.push(request)
    return answered(null)
  }
  await add(ann, { properties: { big: 1 }, query: 'big > 0', max_count: 4, ttl_ms: 5000 })
  await add(await crowd.guest())
  const defaults = { count_multiple: 1, backfill: true, party_id: null, min_count: 2 }
  const own = { query: 'big > 0', wide_query: 'big > 0', properties: { big: 1 } }
  expect(asked).toEqual([
    { ...defaults, ...own, max_count: 4, ttl_ms: 5000, user_ids: ['u-ann'] },
    {
      ...defaults,
      ...{ query: '', wide_query: '', properties: {}, max_count: 2 },
      ttl_ms: expect.any(Number),
      user_ids: [null],
    },
  ])
})

test('[R-MM-18] of a party the script sees the members, its leader first', async () => {
  const { realtime, ann, bob, party_id } = await crowd.together()
  const asked: TicketRequest[] = []
  realtime.script.onTicketAdd = (_context, request) => {
    asked.push(request)
    return answered(request)
  }
  expect(await add(bob, { party_id, max_count: 4 })).toBe('party leader required')
  expect(await add(ann, { party_id, max_count: 4 })).toMatch(ticketId)
  expect(asked).toMatchObject([{ party_id, user_ids: ['u-ann', 'u-bob'] }])
  expect(await add(bob)).toBe('ticket already queued')
})

test('[R-MM-18] what the script answers takes the place of what was asked for', async () => {
  const { realtime, ann, bob, cid } = await crowd.start()
  // Whatever players say of themselves, the rating comes from the server.
  const ratings: Record<string, number> = { 'u-ann': 1000, 'u-bob': 2000, 'u-cid': 1010 }
  realtime.script.onTicketAdd = (context, { properties }) => {
    const rating = ratings[context.user_id ?? ''] ?? 0
    const query = `rating > ${rating - 50} AND rating < ${rating + 50}`
    return answered({ query, properties: { ...properties, rating } })
  }
  const cheating = { properties: { rating: 1000 } }
  await add(ann, cheating)
  const alone = await add(bob, cheating)
  await realtime.clock.advance(250)
  expect(await status(bob, alone)).toMatchObject({ last_reason: 'incompatible' })
  await add(cid, cheating)
  await realtime.clock.advance(250)
  expect((await matched(ann)).match_id).toBe((await matched(cid)).match_id)
  expect(await status(bob, alone)).toMatchObject({ state: 'queued' })
})

test('[R-MM-18] a request that was changed in place and returned is an answer', async () => {
  const { realtime, ann } = await crowd.start()
  realtime.script.onTicketAdd = (_context, request) => answered({ ...request, ttl_ms: 1000 })
  const id = await add(ann, { ttl_ms: 60_000 })
  await realtime.clock.advance(1100)
  await ann.next()
  expect(await status(ann, id)).toMatchObject({ state: 'removed' })
})

test('[R-MM-18] its refusals are read by the player, its failures are not', async () => {
  const { realtime, ann } = await crowd.start()
  const answers: [HookAnswer, string][] = [
    [answered({ refuse: 'the season is over' }), 'the season is over'],
    ...[
      { refuse: '' },
      { refuse: 'x'.repeat(129) },
      { refuse: 7 },
      { refuse: 'no', query: '' },
      false,
      'no',
      7,
      [],
      { query: 'a =' },
      { wide_query: 7 },
      { properties: { a: true } },
      { properties: null },
      { min_count: 1 },
      { max_count: 1 },
      { count_multiple: 0 },
      { ttl_ms: 1e9 },
      { color: 'red' },
      { __proto__: null, toString: 1 },
      { party_id: 'other' },
      { backfill: false },
      { user_ids: [] },
    ].map((value): [HookAnswer, string] => [answered(value), 'ticket refused']),
    [{ status: 'failed' }, 'ticket refused'],
  ]
  for (const [answer, text] of answers) {
    realtime.script.onTicketAdd = () => answer
    expect(await add(ann), JSON.stringify(answer)).toBe(text)
  }
  expect(realtime.script.misanswers).toContainEqual([
    'on_matchmaker_add',
    'it returned a request with another party_id, which it may not change',
  ])
  realtime.script.onTicketAdd = () => answered(undefined)
  expect(await add(ann)).toMatch(ticketId)
})

test('[R-MM-18] other errors come before the script is asked, and are looked at again', async () => {
  const { realtime, ann, bob, cid } = await crowd.start({ matchmaker: { max_tickets: 1 } })
  let asked = 0
  realtime.script.onTicketAdd = () => {
    asked += 1
    return answered(null)
  }
  expect(await add(ann, { min_count: 1 })).toBe('invalid count')
  expect(await add(ann, { party_id: 'none' })).toBe('party not found')
  expect(asked).toBe(0)
  const answer = Promise.withResolvers<HookAnswer>()
  realtime.script.onTicketAdd = () => answer.promise
  const waiting = add(ann)
  await add(bob, { min_count: 1 })
  realtime.script.onTicketAdd = undefined
  expect(await add(cid)).toMatch(ticketId)
  answer.resolve(answered(null))
  expect(await waiting).toBe('matchmaker is temporarily unavailable')
  expect(await add(bob)).toBe('matchmaker is temporarily unavailable')
})

test('[R-MM-18] an account has one ticket that the script is asked about', async () => {
  const { realtime, ann } = await crowd.start()
  const phone = await crowd.joinAgain('ann')
  const answer = Promise.withResolvers<HookAnswer>()
  let asked = 0
  realtime.script.onTicketAdd = () => {
    asked += 1
    return answer.promise
  }
  const first = add(ann)
  await expect.poll(() => asked).toBe(1)
  expect(await add(phone)).toBe('ticket already queued')
  realtime.script.isGateOpen = false
  answer.resolve(answered(null))
  expect(await first).toBe('game script unavailable')
  realtime.script.isGateOpen = true
  expect(await add(phone)).toMatch(ticketId)
  expect(asked).toBe(2)
})

test('[R-MM-18] [R-MM-9] who has gone meanwhile has no ticket', async () => {
  const { realtime, ann } = await crowd.start()
  const answer = Promise.withResolvers<HookAnswer>()
  let asked = false
  realtime.script.onTicketAdd = () => {
    asked = true
    return answer.promise
  }
  // Nobody is there for its answer.
  add(ann).catch(() => {})
  await expect.poll(() => asked).toBe(true)
  ann.end()
  await expect
    .poll(() => realtime.script.hooks().some((hook) => hook.startsWith('leave')))
    .toBe(true)
  answer.resolve(answered(null))
  await afterOthers()
  expect(realtime.gateway.matchmaker()).toMatchObject({ queued_tickets: 0 })
})
