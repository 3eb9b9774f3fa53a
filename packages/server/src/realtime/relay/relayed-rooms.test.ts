import { afterEach, expect, test } from 'vitest'
import { joinAs, type Player } from '../play/rooms/rooms.fixture.ts'
import { waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, startCluster } from './cluster.fixture.ts'

/** Rooms of one node with members whose connections are on another. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const grace = { rooms: { reconnect_grace_ms: 10_000 } }
const roomOf = (slot: number, n: number) => slot * 2 ** 40 + n

/** Ann has made a room on the first node, and Bob has joined it from the second. */
async function startTogether(options: Parameters<typeof startCluster>[0] = {}) {
  cluster = await startCluster(options)
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann', 2)
  ann.create('arena')
  await lines(ann, 2)
  const bob = await joinAs(two, 't-bob', 2)
  bob.create('arena')
  return { one, two, ann, bob }
}

/** Lines as they come, while messages between the nodes pass. */
async function lines(player: Player, count: number): Promise<string[]> {
  return player.lines(count)
}

test('[R-CL-3, R-CL-4, R-CL-5] a room of another node is joined by its name', async () => {
  const { one, two, ann, bob } = await startTogether()
  expect(await lines(bob, 2)).toEqual([
    `joined ${roomOf(1, 1)} arena/`,
    expect.stringContaining('snapshot'),
  ])
  expect(await ann.line()).toContain('joined')
  expect(await one.gateway.members(roomOf(1, 1))).toMatchObject([
    { user_id: 'u-ann', connected: true },
    { user_id: 'u-bob', participant: roomOf(2, 1), connected: true },
  ])
  expect(await two.gateway.rooms()).toEqual([])
  // Whoever connects is the edge's: its hooks run there, and the room's at the owner.
  expect(two.script.hooks()).toEqual([expect.stringContaining('join')])
  expect(one.script.matches().at(-1)).toContain('join')
})

test('[R-CL-3] messages, broadcasts and RPCs go through the owner', async () => {
  const { one, two, ann, bob } = await startTogether()
  await lines(bob, 2)
  await ann.line()
  one.script.kinds.add(100)
  bob.send(100, 'hello')
  await expect
    .poll(() => one.script.calls.at(-1), waiting)
    .toMatchObject({
      hook: 'message',
      kind: 100,
      context: { participant: roomOf(2, 1), room_id: roomOf(1, 1), user_id: 'u-bob' },
    })
  expect(two.script.calls.some(({ hook }) => hook === 'message')).toBe(false)
  one.gateway.broadcast({
    ...{ kind: 101, body: Buffer.from('to all'), unreliable: false, sender: 0, except: [] },
    room_id: roomOf(1, 1),
  })
  expect(String((await bob.next()).body)).toBe(
    'to all'
      .split('')
      .map((c) => c.charCodeAt(0))
      .join(),
  )
  expect((await ann.next()).kind).toBe(101)
  one.gateway.send({
    ...{ kind: 102, body: Buffer.from('bob'), unreliable: false },
    participants: [roomOf(2, 1)],
  })
  expect((await bob.next()).kind).toBe(102)
})

test('[R-CL-5, R-ROOM-6] a leave is answered, and the next room is one of its own node', async () => {
  const { one, two, ann, bob } = await startTogether()
  await lines(bob, 2)
  await ann.line()
  bob.leave()
  expect(await lines(bob, 2)).toEqual([expect.stringContaining('left'), `left ${roomOf(1, 1)}`])
  expect(await ann.line()).toContain('left')
  bob.create('own')
  expect((await lines(bob, 2))[0]).toBe(`joined ${roomOf(2, 2)} own/`)
  expect(await one.gateway.members(roomOf(1, 1))).toHaveLength(1)
  expect(await two.gateway.rooms()).toHaveLength(1)
})

test('[R-CL-5, R-PRS-1] from a room elsewhere to one here: its own left comes first', async () => {
  const { ann, bob } = await startTogether()
  await lines(bob, 2)
  await ann.line()
  bob.create('own')
  const [left, joined] = await lines(bob, 3)
  expect(left).toContain('left')
  expect(joined).toBe(`joined ${roomOf(2, 2)} own/`)
  expect(await ann.line()).toContain('left')
})

test('[R-CL-5] a room that is not there, and one of a node that is not there, are refused', async () => {
  const { bob } = await startTogether()
  await lines(bob, 2)
  bob.joinRoom(roomOf(1, 99))
  expect(await bob.line()).toContain('room not found')
  bob.joinRoom(roomOf(77, 1))
  expect(await bob.line()).toContain('room not found')
})

test('[R-CL-5, R-CL-16] an owner that does not answer is given up, and a late admission undone', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann', 2)
  ann.create('arena')
  await lines(ann, 2)
  const { promise, resolve } = Promise.withResolvers<{ status: 'absent' }>()
  one.script.onRoomJoin = () => promise
  const bob = await joinAs(two, 't-bob', 2)
  bob.create('arena')
  await expect.poll(() => one.gateway.metrics().relay_links_active, waiting).toBe(1)
  await cluster.pass(2500)
  expect(await bob.line()).toContain('room temporarily unavailable')
  resolve({ status: 'absent' })
  await cluster.settle()
  expect(await one.gateway.members(roomOf(1, 1))).toHaveLength(1)
  expect(bob.received).toEqual([])
})

/** Bob is in a room of the second node and asks for Ann's, whose script takes its time. */
async function startAsking(size: number) {
  cluster = await startCluster({ size, ...grace })
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('arena')
  await ann.line()
  const bob = await joinAs(two, 't-bob')
  bob.create('own')
  await bob.line()
  const held = Promise.withResolvers<{ status: 'absent' }>()
  let asked = 0
  one.script.onRoomJoin = () => {
    asked += 1
    return asked === 1 ? held.promise : { status: 'absent' }
  }
  bob.create('arena')
  await expect.poll(() => asked, waiting).toBe(1)
  bob.end()
  await expect.poll(() => two.gateway.metrics().dropped_seats_active, waiting).toBe(1)
  await cluster.pass(500)
  return { one, two, answer: () => held.resolve({ status: 'absent' }) }
}

test.each(['before', 'behind'])(
  '[R-RET-3, R-RET-1] what a lost connection had asked for moves nobody, %s its return',
  async (when) => {
    const { one, two, answer } = await startAsking(2)
    const admit = async () => {
      answer()
      await cluster.settle()
    }
    if (when === 'before') await admit()
    const again = await joinAs(two, 't-bob')
    expect(await again.line()).toBe(`joined ${roomOf(2, 1)} own/`)
    if (when === 'behind') await admit()
    expect(again.received).toEqual([])
    expect(await one.gateway.members(roomOf(1, 1))).toHaveLength(1)
    expect(await two.gateway.members(roomOf(2, 1))).toMatchObject([{ connected: true }])
  },
)

test('[R-CL-16, R-RET-3] nor does it end what another edge has asked for since', async () => {
  const { one, answer } = await startAsking(3)
  const third = cluster.nodes[2]
  if (third === undefined) throw new Error('no third node')
  const again = await joinAs(third, 't-bob')
  expect(await again.line()).toBe(`joined ${roomOf(2, 1)} own/`)
  again.create('arena')
  expect(await again.line()).toBe(`joined ${roomOf(1, 1)} arena/`)
  answer()
  await cluster.settle()
  expect(await one.gateway.members(roomOf(1, 1))).toMatchObject([
    { user_id: 'u-ann' },
    { user_id: 'u-bob', connected: true },
  ])
  await cluster.pass(3000)
  expect(await one.gateway.members(roomOf(1, 1))).toHaveLength(2)
  const body = Buffer.from('all')
  one.gateway.broadcast({
    ...{ kind: 101, body, unreliable: false, sender: 0, except: [] },
    room_id: roomOf(1, 1),
  })
  expect((await again.next()).kind).toBe(101)
})

test('[R-CL-7, R-CL-18] with a grace a member comes back by a new link, on its connection', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  two.cut(true)
  await cluster.pass(7000)
  expect(await ann.line()).toContain('dropped')
  expect(one.gateway.metrics()).toMatchObject({ dropped_seats_active: 1 })
  bob.joinRoom(roomOf(1, 1))
  expect(await bob.line()).toContain('room temporarily unavailable')
  one.gateway.broadcast({
    ...{ kind: 101, body: Buffer.from('kept'), unreliable: false, sender: 0, except: [] },
    room_id: roomOf(1, 1),
  })
  two.cut(false)
  await cluster.pass(1500)
  expect(await lines(bob, 2)).toEqual([
    `joined ${roomOf(1, 1)} arena/`,
    expect.stringContaining('snapshot'),
  ])
  expect((await bob.next()).kind).toBe(101)
  expect((await ann.next()).kind).toBe(101)
  expect(await ann.line()).toContain('returned')
})

test('[R-CL-7] without a grace a lost link closes the match for those elsewhere', async () => {
  const { one, two, ann, bob } = await startTogether()
  await lines(bob, 2)
  await ann.line()
  two.cut(true)
  await cluster.pass(7000)
  expect(await lines(bob, 2)).toEqual([
    expect.stringContaining('closed'),
    expect.stringContaining('left'),
  ])
  expect(await ann.line()).toContain('left')
  expect(await one.gateway.members(roomOf(1, 1))).toHaveLength(1)
})

test('[R-CL-13] members elsewhere of a killed owner get MATCH_CLOSED, and its name is free', async () => {
  const { one, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  one.kill()
  await cluster.pass(13_000)
  expect(await lines(bob, 2)).toEqual([
    expect.stringContaining('closed'),
    expect.stringContaining('left'),
  ])
  bob.create('arena')
  expect((await lines(bob, 2))[0]).toBe(`joined ${roomOf(2, 2)} arena/`)
})

test('[R-CL-2, R-CL-3] a node whose slot was taken ends its rooms and connections, and begins anew', async () => {
  const { one, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  const row = (await cluster.directory.nodes()).find(({ slot }) => slot === 1)
  if (row === undefined) throw new Error('no node')
  await cluster.directory.free(row)
  await cluster.pass(3000)
  expect((await ann.closed).code).toBe(1001)
  expect(await bob.line()).toContain('closed')
  expect(one.membership.slot).toBe(3)
  const again = await joinAs(one, 't-ann')
  again.create('arena')
  expect(await again.line()).toBe(`joined ${roomOf(3, 2)} arena/`)
})

test('[R-CL-18] a client of a killed edge finds its seat from any other node', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()

  two.kill()
  bob.end()
  await cluster.pass(7000)
  expect(await ann.line()).toContain('dropped')
  const again = await joinAs(one, 't-bob')
  expect(await again.line()).toBe(`joined ${roomOf(1, 1)} arena/`)
  expect(await ann.line()).toContain('returned')
})

test('[R-CL-7, R-RET-3] what is under way when a connection is lost reaches its seat', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  for (let count = 0; count < 3; count += 1) {
    one.gateway.broadcast({
      ...{ kind: 101, body: Buffer.from([count]), unreliable: false, sender: 0, except: [] },
      room_id: roomOf(1, 1),
    })
    if (count === 1) bob.end()
    await cluster.settle()
  }
  await expect.poll(() => one.gateway.metrics().dropped_seats_active, waiting).toBe(1)
  const again = await joinAs(two, 't-bob')
  expect(await again.line()).toBe(`joined ${roomOf(1, 1)} arena/`)
  const last = await again.next()
  expect([last.kind, ...last.body].slice(0, 1)).toEqual([101])
})

test('[R-CL-5, R-RET-3] of the room before nothing reaches who was let into another as it was lost', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  const cid = await joinAs(one, 't-cid', 2)
  cid.create('lake')
  await lines(cid, 2)
  await ann.line()
  const held: (() => void)[] = []
  one.disturb((leave) => held.push(leave))
  const say = (kind: number, room: number) =>
    one.gateway.broadcast({
      ...{ kind, body: Buffer.from('x'), unreliable: false, sender: 0, except: [] },
      room_id: roomOf(1, room),
    })
  say(101, 1)
  bob.create('lake')
  expect(await cid.line()).toContain('joined')
  say(102, 2)
  bob.end()
  await expect.poll(() => one.gateway.metrics().dropped_seats_active, waiting).toBe(1)
  one.disturb(undefined)
  for (const leave of held) leave()
  const again = await joinAs(two, 't-bob')
  expect(await again.line()).toBe(`joined ${roomOf(1, 2)} lake/`)
  expect((await again.next()).kind).toBe(102)
})

test('[R-CL-7, R-GEN-7] a leave whose link is lost is answered, and takes the member out', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  two.cut(true)
  bob.leave()
  await cluster.pass(7000)
  expect(await lines(bob, 2)).toEqual([expect.stringContaining('left'), `left ${roomOf(1, 1)}`])
  expect(one.gateway.metrics()).toMatchObject({ dropped_seats_active: 1 })

  // The seat that the owner has kept ends, and not the member that has come again.
  two.cut(false)
  bob.create('arena')
  expect((await lines(bob, 2))[0]).toBe(`joined ${roomOf(1, 1)} arena/`)
  expect(one.gateway.metrics()).toMatchObject({ dropped_seats_active: 0 })
  await cluster.pass(2 * grace.rooms.reconnect_grace_ms)
  expect(await one.gateway.members(roomOf(1, 1))).toMatchObject([
    { user_id: 'u-ann' },
    { user_id: 'u-bob', connected: true },
  ])
  expect(bob.received).toEqual([])
})

test('[R-CL-18] what an edge had not sent is not awaited when its link is lost', async () => {
  const { one, two, ann, bob } = await startTogether(grace)
  await lines(bob, 2)
  await ann.line()
  bob.end()
  await expect.poll(() => one.gateway.metrics().dropped_seats_active, waiting).toBe(1)
  // The edge is gone before it has said what it had not sent.
  two.kill()
  const again = one.join('t-bob')
  await cluster.pass(7000)
  const joined = await again
  expect(joined.isOpen()).toBe(true)
  expect(await one.gateway.members(roomOf(1, 1))).toMatchObject([
    { user_id: 'u-ann' },
    { user_id: 'u-bob', connected: true },
  ])
})
