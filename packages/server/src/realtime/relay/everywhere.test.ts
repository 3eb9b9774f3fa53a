import { envelopeBytesMax } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { joinAs } from '../play/rooms/rooms.fixture.ts'
import { waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, startCluster } from './cluster.fixture.ts'
import { encodeMessage } from './messages.ts'

/** What reaches players wherever they are connected. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const grace = { rooms: { reconnect_grace_ms: 10_000 } }
const envelope = (kind: number) => ({ kind, body: Buffer.from('x'), unreliable: false })
const idOf = (slot: number, n: number) => slot * 2 ** 40 + n

async function kindsOf(client: { received: readonly { kind: number }[] }) {
  await cluster.settle()
  return client.received.map(({ kind }) => kind)
}

test('[R-CL-9] a broadcast to all reaches the players of every node once', async () => {
  cluster = await startCluster({ size: 3 })
  const [one, two, three] = cluster.nodes
  const players = [await joinAs(one, 't-ann'), await joinAs(two, 't-bob')]
  if (three !== undefined) players.push(await joinAs(three, 't-cid'))
  const all = { sender: 0, except: [idOf(2, 1)], room_id: null }
  one.gateway.broadcast({ ...envelope(101), ...all })
  await expect.poll(() => players[2]?.received.length, waiting).toBe(1)
  expect(await Promise.all(players.map(kindsOf))).toEqual([[101], [], [101]])
})

test('[R-CL-9] a topic has members on every node, also those in rooms of others', async () => {
  cluster = await startCluster(grace)
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('arena')
  await ann.line()
  const bob = await joinAs(two, 't-bob')
  bob.create('arena')
  await bob.line()
  // The script of the room puts both into a topic.
  one.gateway.joinTopic('news', idOf(1, 1))
  one.gateway.joinTopic('news', idOf(2, 1))
  await cluster.settle()
  const topic = { sender: 0, except: [], room_id: null, topic: 'news' }
  one.gateway.broadcast({ ...envelope(101), ...topic })
  await expect.poll(() => bob.received.length, waiting).toBe(1)
  two.gateway.broadcast({ ...envelope(102), ...topic })
  await expect.poll(() => ann.received.length, waiting).toBe(2)
  expect(await kindsOf(bob)).toEqual([101, 102])
  one.gateway.leaveTopic('news', idOf(2, 1))
  await cluster.settle()
  two.gateway.broadcast({ ...envelope(103), ...topic })
  await expect.poll(() => ann.received.length, waiting).toBe(3)
  expect(await kindsOf(bob)).toEqual([101, 102])
})

test('[R-CL-9] what is sent to a participant goes to its node', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  const bob = await joinAs(two, 't-bob')
  const participants = [idOf(1, 1), idOf(2, 1), idOf(2, 99), idOf(9, 1)]
  one.gateway.send({ ...envelope(101), participants })
  await expect.poll(() => bob.received.length, waiting).toBe(1)
  expect(await kindsOf(ann)).toEqual([101])
})

test('[R-CL-11, R-CL-19] pushes and online know the connections of all nodes', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  const bob = await joinAs(two, 't-bob')
  await cluster.pass(500)
  expect(await one.gateway.online(['u-bob', 'u-nobody', 'u-ann', 'u-bob'])).toEqual([
    'u-bob',
    'u-ann',
  ])
  one.gateway.push(['u-bob'], 27, Buffer.from('{}'))
  one.gateway.push(null, 28, Buffer.from('{}'))
  await expect.poll(() => bob.received.length, waiting).toBe(2)
  expect(await kindsOf(ann)).toEqual([28])
  bob.end()
  await expect.poll(() => two.gateway.metrics().sessions_active, waiting).toBe(0)
  await cluster.pass(500)
  expect(await one.gateway.online(['u-bob'])).toEqual([])
})

test('[R-CL-10] the later connection of a session wins over all nodes', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const first = await joinAs(one, 't-ann')
  await cluster.pass(500)
  const second = await joinAs(two, 't-ann')
  await cluster.pass(500)
  expect(await first.closed).toEqual({ code: 4005, reason: 'session replaced' })
  second.send(100, 'still here')
  await cluster.pass(500)
  expect(two.gateway.metrics().sessions_active).toBe(1)
})

test('[R-CL-10, R-CL-16] an older connection is closed within a second also if the notice is lost', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const first = await joinAs(one, 't-ann')
  await cluster.pass(500)
  two.disturb(() => {})
  await joinAs(two, 't-ann')
  await cluster.pass(1000)
  expect(await first.closed).toEqual({ code: 4005, reason: 'session replaced' })
  expect(two.gateway.metrics().sessions_active).toBe(1)
})

test('[R-CL-10, R-CL-13] who signs in beside a directory that stalls is in, and replaces later', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const first = await joinAs(one, 't-ann')
  await cluster.pass(1000)
  const letGo = two.stallDirectory()
  // Then it has been silent for long enough that nobody waits for it.
  await cluster.pass(1000)
  const second = await joinAs(two, 't-ann', 2)
  letGo()
  await cluster.pass(1500)
  expect(await first.closed).toEqual({ code: 4005, reason: 'session replaced' })
  second.send(100, 'still here')
  await cluster.pass(500)
  expect(two.gateway.metrics().sessions_active).toBe(1)
})

test('[R-CL-18] a third node finds the seat of a player whose edge was killed', async () => {
  cluster = await startCluster({ size: 3, ...grace })
  const [one, two, three] = cluster.nodes
  if (three === undefined) throw new Error('there are three nodes')
  const ann = await joinAs(one, 't-ann', 2)
  ann.create('arena')
  await ann.lines(2)
  const bob = await joinAs(two, 't-bob')
  bob.create('arena')
  await bob.line()
  await ann.line()
  two.kill()
  bob.end()
  await cluster.pass(7000)
  expect(await ann.line()).toContain('dropped')
  const again = await joinAs(three, 't-bob')
  expect(await again.line()).toBe(`joined ${idOf(1, 1)} arena/`)
  expect(await ann.line()).toContain('returned')
  // Its id is one of the killed node; what is sent to it goes through its room.
  one.gateway.send({ ...envelope(101), participants: [idOf(2, 1)] })
  expect((await again.next()).kind).toBe(101)
})

test('[R-CL-20, R-CL-3] a draining node places new rooms on the live one, and keeps its own', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('old')
  await ann.line()
  await one.membership.drain()
  await two.membership.refresh()
  const bob = await joinAs(one, 't-bob')
  bob.create('old')
  expect(await bob.line()).toBe(`joined ${idOf(1, 1)} old/`)
  bob.create('new')
  expect(await bob.line()).toMatch(new RegExp(`^joined ${idOf(2, 1)} new/`))
  expect(await one.gateway.rooms()).toHaveLength(1)
  expect(await two.gateway.rooms()).toMatchObject([{ name: 'new' }])
})

test('[R-CL-20] a draining node tries again when the live one is out of reach for a moment', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const bob = await joinAs(one, 't-bob')
  await one.membership.drain()
  await two.membership.refresh()
  one.cut(true)
  bob.create('new')
  await cluster.pass(500)
  one.cut(false)
  await cluster.pass(500)
  expect(await bob.line()).toMatch(new RegExp(`^joined ${idOf(2, 1)} new/`))
  expect(await one.gateway.rooms()).toEqual([])
  expect(await two.gateway.rooms()).toMatchObject([{ name: 'new' }])
})

function pushOf(kind: number, bodyBytes: number): Uint8Array {
  const body = new Uint8Array(bodyBytes)
  return encodeMessage('bt1-x', { type: 'push', user_ids: null, kind, body })
}

function reachOf(frame: readonly number[]): Uint8Array {
  const sent = { bytes: Uint8Array.from(frame), mergeKey: 0 }
  const of = { generation: 1, account: 'u-bob', except: null }
  return encodeMessage('bt1-x', { type: 'reach', ...of, frame: sent })
}

test('[R-CL-14] garbage, other versions and foreign messages on the bus change nothing', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const bob = await joinAs(two, 't-bob')
  const { relay } = one.gateway
  for (const bytes of [
    [],
    [0],
    [2, 0],
    [1, 4, 98, 116, 49],
    Array.from({ length: 99 }, () => 255),
    // Of these no frame could be made.
    pushOf(2 ** 16, 2),
    pushOf(27, envelopeBytesMax - 1),
    reachOf([0, 0, 0, 3, 0, 27]),
    reachOf([0, 0, 0, 1, 0]),
  ]) {
    relay?.received(Uint8Array.from(bytes))
  }
  expect(relay?.invalid).toBe(9)
  one.gateway.push(['u-bob'], 27, Buffer.from('{}'))
  await expect.poll(() => bob.received.length, waiting).toBe(1)
})
