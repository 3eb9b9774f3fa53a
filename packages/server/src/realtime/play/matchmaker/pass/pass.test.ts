import { expect, test } from 'vitest'
import type { Ticket } from '../tickets/ticket.ts'
import { startPasses } from './pass.fixture.ts'

/** Makes each look at a ticket as slow as that. */
function slow(ticket: Ticket, work: (ms: number) => void, ms: number): Ticket {
  const accepts = ticket.accepts.bind(ticket)
  ticket.accepts = (other) => {
    work(ms)
    return accepts(other)
  }
  return ticket
}

const never = { query: 'nobody == "there"' }

test('[R-MM-8] a pass over many pauses after at most 20 ms for as long as the slice took', async () => {
  const { clock, work, slices, ticketOf, groups } = startPasses()
  for (let count = 0; count < 60; count += 1) slow(ticketOf(never), work, 0.1)
  const pair = { query: 'region == "eu"', properties: { region: 'eu' } }
  const [first, second] = [ticketOf(pair), ticketOf(pair)]
  await clock.advance(250)
  expect(groups).toEqual([])
  // 62 tickets that look at 61 others each: hundreds of milliseconds of work.
  await clock.advance(2000)
  expect(groups).toEqual([[first.id, second.id]])
  expect(slices.length).toBeGreaterThan(10)
  for (const { tookMs, pauseMs } of slices) {
    expect(tookMs).toBeLessThanOrEqual(20)
    expect(pauseMs).toBeCloseTo(tookMs)
  }
})

test('[R-MM-8] the pass that is due next pauses behind the one before', async () => {
  const { clock, work, slices, ticketOf, passes } = startPasses()
  const add = () => passes.ticketAdded(slow(ticketOf(never), work, 3))
  add()
  add()
  await clock.advance(0)
  for (let count = 0; count < 10; count += 1) {
    add()
    await clock.advance(1)
  }
  await clock.advance(200)
  expect(slices.length).toBeGreaterThan(2)
  for (const { tookMs } of slices) expect(tookMs).toBeLessThanOrEqual(20 + 3 * 32)
  const total = slices.reduce((sum, { tookMs }) => sum + tookMs, 0)
  expect(slices.reduce((sum, { pauseMs }) => sum + pauseMs, 0)).toBeCloseTo(total)
})

test('[R-MM-7, R-MM-8] after a pause a pass goes on with the next oldest', async () => {
  const { clock, work, ticketOf, groups, queue } = startPasses()
  const misfits = Array.from({ length: 20 }, () => slow(ticketOf(never), work, 1))
  const duel = (name: string) => ({ query: `a == "${name}"`, properties: { a: name } })
  const pairs = ['x', 'y', 'z'].map((name) => [ticketOf(duel(name)), ticketOf(duel(name))])
  // Younger ones that fit the oldest come in while it runs; they wait for the pass behind it.
  await clock.advance(250)
  const late = ticketOf(duel('x'))
  await clock.advance(2000)
  expect(groups).toEqual(pairs.map((pair) => pair.map(({ id }) => id)))
  expect(queue.byAge().filter(({ state }) => state === 'queued')).toEqual([...misfits, late])
})

test('[R-MM-8] a group that loses somebody in a pause is looked for again', async () => {
  const { clock, work, ticketOf, groups, queue } = startPasses()
  const three = { min_count: 3, max_count: 3 }
  const [ann, bob] = [ticketOf(three), ticketOf(three)]
  for (let count = 0; count < 100; count += 1) slow(ticketOf({ ...three, ...never }), work, 1)
  const [cid, dan] = [ticketOf(three), ticketOf(three)]
  await clock.advance(250)
  queue.finish(bob, 'removed')
  await clock.advance(5000)
  expect(groups).toEqual([[ann.id, cid.id, dan.id]])
})

test('[R-MM-8] while the gate is closed nobody is evaluated, also not in the rest of a pass', async () => {
  let isOpen = true
  const { clock, work, ticketOf, groups } = startPasses({ gateOpen: () => isOpen })
  for (let count = 0; count < 100; count += 1) slow(ticketOf(never), work, 1)
  const pair = [ticketOf({}), ticketOf({})]
  await clock.advance(250)
  isOpen = false
  await clock.advance(20_000)
  expect(groups).toEqual([])
  isOpen = true
  await clock.advance(60_000)
  expect(groups).toEqual([pair.map(({ id }) => id)])
})

test('[R-MM-7] new tickets are seeds at the end of their turn, the older one first', async () => {
  const { clock, ticketOf, groups, passes } = startPasses()
  const old = ticketOf({ query: 'b == 1', properties: { a: 1 } })
  const young = ticketOf({ query: 'a == 1', properties: { b: 1 } }, { id: 'zz' })
  const same = ticketOf({ query: 'a == 1', properties: { b: 1 } }, { id: 'aa' })
  passes.ticketAdded(young)
  passes.ticketAdded(same)
  expect(groups).toEqual([])
  await clock.advance(0)
  // Both came in the same instant: the id decides.
  expect(groups).toEqual([['aa', old.id]])
})

test('[R-MM-8] a crowd that fits nobody is compared once, and no newcomer waits behind it', async () => {
  const { clock, work, ticketOf, groups, queue, slices } = startPasses()
  const crowd = Array.from({ length: 300 }, (_, index) =>
    slow(ticketOf(never, { ageMs: 300 - index }), work, 0.1),
  )
  // 300 times 299 looks take 9 s, and with the pauses twice as long.
  await clock.advance(25_000)
  const before = slices.length
  await clock.advance(250)
  // Each looks at the newest one again: 30 ms.
  expect(slices.length - before).toBeLessThanOrEqual(30)
  expect(crowd[0]).toMatchObject({ seen: 299, reason: 'incompatible' })
  const pair = [ticketOf({ query: 'a == 1', properties: { a: 1 } })]
  pair.push(ticketOf({ query: 'a == 1', properties: { a: 1 } }))
  await clock.advance(500)
  expect(groups).toEqual([pair.map(({ id }) => id)])
  for (const ticket of crowd) queue.finish(ticket, 'removed')
  expect([queue.size, queue.byAge()]).toEqual([0, []])
})

test('[R-MM-8] a large group is compared with each ticket in slices', async () => {
  const { clock, work, slices, ticketOf } = startPasses()
  const all = { min_count: 255, max_count: 255 }
  for (let count = 0; count < 200; count += 1) slow(ticketOf(all), work, 0.01)
  await clock.advance(10_000)
  // The last one is compared with 199 others, which are 4 ms.
  expect(slices.length).toBeGreaterThan(50)
  for (const { tookMs } of slices) expect(tookMs).toBeLessThanOrEqual(1 + 4)
})

test('[R-MM-7] an account that cancels and adds is a seed once between passes over all', async () => {
  const { clock, ticketOf, groups, queue, passes } = startPasses()
  const readd = () => {
    const mine = ticketOf({ query: 'b == 1', properties: { a: 1 } }, { accounts: ['me'] })
    passes.ticketAdded(mine)
    return mine
  }
  queue.finish(readd(), 'removed')
  await clock.advance(1)
  const mine = readd()
  const fits = ticketOf({ query: 'a == 1', properties: { b: 1 } })
  await clock.advance(1)
  expect(groups).toEqual([])
  await clock.advance(248)
  expect(groups).toEqual([[mine.id, fits.id]])
  const again = readd()
  const other = ticketOf({ query: 'a == 1', properties: { b: 1 } })
  await clock.advance(0)
  expect(groups.at(-1)).toEqual([again.id, other.id])
})

test('[R-MM-8] what fails in a pass neither ends the node nor the passes behind it', async () => {
  let failures = 1
  const found = startPasses({
    form(group) {
      failures -= 1
      if (failures >= 0) throw new Error('a bug')
      for (const ticket of group) found.queue.finish(ticket, 'matched')
      return true
    },
  })
  found.ticketOf({})
  found.ticketOf({})
  await found.clock.advance(250)
  expect(found.log.lines).toMatchObject([{ message: 'a pass of the matchmaker failed' }])
  expect(found.queue.size).toBe(2)
  await found.clock.advance(250)
  expect(found.queue.size).toBe(0)
})

/** Ann and Bob have played; Cid fits Ann alone, who would wait for more beside who came before. */
async function startAfterMatch() {
  const found = startPasses()
  const { clock, ticketOf } = found
  const upToFour = { min_count: 2, max_count: 4 }
  const [ann, bob] = [ticketOf({ ...upToFour, properties: { a: 1 } }), ticketOf({})]
  await clock.advance(250)
  ticketOf({ ...upToFour, query: 'a == 1' })
  const cid = ticketOf({ query: 'a == 1' })
  const both = [
    [ann.id, bob.id],
    [cid.id, ann.id],
  ]
  return { ...found, ann, cid, both }
}

test('[R-MM-7, R-MM-13] who found nobody finds a ticket that comes back with its age', async () => {
  const { clock, queue, groups, ann, both } = await startAfterMatch()
  await clock.advance(250)
  queue.giveBack(ann, 'no_room')
  await clock.advance(250)
  expect(groups).toEqual(both)
})

test('[R-MM-7, R-MM-13] so does who finds nobody just while it comes back', async () => {
  const { clock, queue, groups, ann, cid, both } = await startAfterMatch()
  const accepts = cid.accepts.bind(cid)
  cid.accepts = (other) => {
    // As in a pause of the pass, which does not look at Ann any more.
    if (ann.state === 'matched') queue.giveBack(ann, 'no_room')
    return accepts(other)
  }
  await clock.advance(500)
  expect(groups).toEqual(both)
})
