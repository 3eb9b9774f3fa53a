import { afterEach, expect, test } from 'vitest'
import { joinAs } from '../play/rooms/rooms.fixture.ts'
import { waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, startCluster } from './cluster.fixture.ts'

/** Who leaves a room of another node while the link to it is lost. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const graceMs = 20_000
const arena = 2 ** 40 + 1
const bobId = 2 * 2 ** 40 + 1
const leftArena = `v2 left ${arena} ${bobId}:u-bob:bob:left`

/** Ann is in her room on the first node; Bob has joined it from the second, which is cut off. */
async function startCut() {
  cluster = await startCluster({ rooms: { reconnect_grace_ms: graceMs } })
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann', 2)
  ann.create('arena')
  await ann.lines(2)
  const bob = await joinAs(two, 't-bob', 2)
  bob.create('arena')
  await bob.lines(2)
  await ann.line()
  two.cut(true)
  const join = async () => {
    two.cut(false)
    await cluster.pass(2500)
  }
  return { one, two, ann, bob, join }
}

const seats = () => cluster.nodes[0].gateway.metrics().dropped_seats_active

const moments = [
  { title: 'before the loss is noticed', beforeMs: 0, afterMs: 7000 },
  { title: 'while it waits for a new link', beforeMs: 7000, afterMs: 0 },
]

for (const { title, beforeMs, afterMs } of moments) {
  test(`[R-CL-7, R-GEN-7] who leaves ${title} is out as soon as there is a link`, async () => {
    const { one, two, ann, bob, join } = await startCut()
    await cluster.pass(beforeMs)
    bob.leave()
    await cluster.pass(afterMs)
    await bob.lines(2)
    expect(await ann.line()).toContain('dropped')
    expect(seats()).toBe(1)

    await join()
    expect(await ann.line()).toBe(leftArena)
    expect(seats()).toBe(0)
    expect(one.script.hooks().at(-1)).toBe(`leave ${bobId}`)
    expect(await one.gateway.members(arena)).toHaveLength(1)
    expect(two.gateway.relay?.isEmpty).toBe(true)
    expect(bob.received).toEqual([])
  })
}

test('[R-CL-7, R-CL-16] who leaves for another room stays there, and is out of the old one', async () => {
  const { one, two, ann, bob, join } = await startCut()
  bob.create('own')
  expect((await bob.lines(3))[1]).toContain('own/')
  await cluster.pass(7000)
  expect(await ann.line()).toContain('dropped')
  await join()
  expect(await ann.line()).toBe(leftArena)
  expect(await one.gateway.members(arena)).toHaveLength(1)
  expect(await two.gateway.rooms()).toMatchObject([{ name: 'own' }])
  expect(bob.received).toEqual([])
})

test('[R-CL-7, R-RET-4] two that have left are out, one of them by its connection', async () => {
  const { one, two, ann, bob, join } = await startCut()
  two.cut(false)
  const cid = await joinAs(two, 't-cid')
  cid.create('arena')
  await cid.line()
  await Promise.all([ann.line(), bob.line()])
  two.cut(true)
  bob.leave()
  cid.leave()
  await cluster.pass(7000)
  await bob.lines(2)
  bob.end()
  expect(await ann.lines(2)).toEqual([
    expect.stringContaining('dropped'),
    expect.stringContaining('dropped'),
  ])
  // By the way of its own node it is nobody's seat any more.
  const again = await joinAs(two, 't-bob')
  await join()
  expect((await ann.lines(2)).toSorted()).toEqual([leftArena, expect.stringContaining('cid:left')])
  expect(await one.gateway.members(arena)).toHaveLength(1)
  expect(again.received).toEqual([])
})

test('[R-CL-7] who comes again by itself ends its old seat, and nothing ends the new one', async () => {
  const { one, two, bob } = await startCut()
  bob.leave()
  await cluster.pass(7000)
  await bob.lines(2)
  two.cut(false)
  // The owner has given its seat to the edge, which has not heard of it yet.
  const held: (() => void)[] = []
  one.disturb((leave) => held.push(leave))
  await cluster.clock.advance(500)
  await expect.poll(seats, waiting).toBe(0)
  bob.create('arena')
  await cluster.settle()
  one.disturb(undefined)
  for (const leave of held) leave()
  expect((await bob.lines(2))[0]).toBe(`joined ${arena} arena/`)
  await cluster.pass(7000)
  expect(seats()).toBe(0)
  expect(await one.gateway.members(arena)).toMatchObject([
    { user_id: 'u-ann' },
    { user_id: 'u-bob', connected: true },
  ])
})

test('[R-CL-7, R-RET-1] a link that never comes back keeps neither seat nor leave', async () => {
  const { one, two, ann, bob } = await startCut()
  bob.leave()
  await cluster.pass(7000)
  expect(await ann.line()).toContain('dropped')
  expect(two.gateway.relay?.isEmpty).toBe(false)
  await cluster.pass(graceMs + 6000)
  expect(await ann.line()).toContain('left')
  expect(await one.gateway.members(arena)).toHaveLength(1)
  expect(two.gateway.relay?.isEmpty).toBe(true)
})

test('[R-CL-7, R-CL-18] the seat of who has left ends with its grace where the edge is gone', async () => {
  const { two, ann, bob } = await startCut()
  bob.leave()
  await cluster.pass(7000)
  two.kill()
  await cluster.pass(graceMs)
  expect(await ann.lines(2)).toEqual([
    expect.stringContaining('dropped'),
    expect.stringContaining('left'),
  ])
  expect(seats()).toBe(0)
})
