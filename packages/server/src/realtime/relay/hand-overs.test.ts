import { afterEach, expect, test } from 'vitest'
import { joinAgain, joinAs, type Player } from '../play/rooms/rooms.fixture.ts'
import { waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, type ClusterNode, startCluster } from './cluster.fixture.ts'

/** A newer connection of a session arrives on another node, while the older one is open. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const grace = { rooms: { reconnect_grace_ms: 10_000 } }
const idOf = (slot: number, n: number) => slot * 2 ** 40 + n

/** Ann has made a room on the first node; Bob has joined it from the node that is given. */
async function startWithBobAt(at: number) {
  cluster = await startCluster({ size: 3, ...grace })
  const ann = await joinAs(cluster.nodes[0], 't-ann', 2)
  ann.create('arena')
  await ann.lines(2)
  const older = await joinAs(nodeAt(at), 't-bob', 2)
  older.create('arena')
  await older.lines(2)
  await ann.line()
  await cluster.pass(500)
  return { ann, older }
}

function nodeAt(at: number): ClusterNode {
  const node = cluster.nodes[at]
  if (node === undefined) throw new Error('no such node')
  return node
}

async function heard(player: Player, count: number): Promise<string[]> {
  return player.lines(count)
}

/** What the script of the room's node has seen of Bob since a moment. */
function seenOf(participant: number, since: number): string[] {
  return cluster.nodes[0].script
    .hooks()
    .slice(since)
    .filter((line) => line.endsWith(`${participant}`))
}

const ways = [
  { title: 'from the node of the room to another one', from: 0, to: 1 },
  { title: 'to the node of the room', from: 1, to: 0 },
  { title: 'between two others', from: 1, to: 2 },
]

for (const { title, from, to } of ways) {
  test(`[R-RET-5, R-CL-10] the newer connection takes the participant over, ${title}`, async () => {
    const { ann, older } = await startWithBobAt(from)
    const bob = idOf(from + 1, from === 0 ? 2 : 1)
    const before = cluster.nodes[0].script.calls.length
    const newer = await joinAs(nodeAt(to), 't-bob')
    expect(await newer.line()).toBe(`joined ${idOf(1, 1)} arena/`)
    expect(await older.closed).toMatchObject({ code: 4005 })
    expect(await heard(ann, 2)).toEqual([
      expect.stringContaining(`dropped ${idOf(1, 1)} ${bob}`),
      expect.stringContaining(`returned ${idOf(1, 1)} ${bob}`),
    ])
    expect(seenOf(bob, before)).toEqual([`drop ${bob}`, `return ${bob}`])
    expect(await cluster.nodes[0].gateway.members(idOf(1, 1))).toMatchObject([
      { user_id: 'u-ann', connected: true },
      { user_id: 'u-bob', participant: bob, connected: true },
    ])
    expect(cluster.nodes[0].gateway.metrics()).toMatchObject({ dropped_seats_active: 0 })

    // Whoever sends to it reaches it where it is now, and it stays there.
    const last = nodeAt(2).gateway
    last.send({ kind: 101, body: Buffer.from('x'), unreliable: false, participants: [bob] })
    expect((await newer.next()).kind).toBe(101)
    await cluster.pass(2000)
    expect(newer.isOpen()).toBe(true)
    expect(newer.received).toEqual([])
  })
}

test('[R-RET-5, R-CL-18] a session that goes to and fro keeps its participant', async () => {
  const { older } = await startWithBobAt(1)
  const connections = [older]
  for (const at of [2, 1, 0, 1]) {
    const newer = await joinAs(nodeAt(at), 't-bob')
    expect(await newer.line()).toBe(`joined ${idOf(1, 1)} arena/`)
    expect(await connections.at(-1)?.closed).toMatchObject({ code: 4005 })
    connections.push(newer)
    await cluster.pass(1000)
  }
  expect(await cluster.nodes[0].gateway.members(idOf(1, 1))).toMatchObject([
    { user_id: 'u-ann' },
    { participant: idOf(2, 1), connected: true },
  ])
})

test('[R-RET-5] it goes back and on before anything is written', async () => {
  const { older } = await startWithBobAt(1)
  const connections = [older]
  for (const at of [2, 1, 2, 1, 0]) {
    const newer = await joinAs(nodeAt(at), 't-bob')
    expect(await newer.line()).toBe(`joined ${idOf(1, 1)} arena/`)
    expect(await connections.at(-1)?.closed).toMatchObject({ code: 4005 })
    connections.push(newer)
  }
  await cluster.pass(2000)
  expect(connections.at(-1)?.isOpen()).toBe(true)
})

test('[R-RET-5] nodes that gave it on know the way to it', async () => {
  const { older } = await startWithBobAt(1)
  const second = await joinAs(nodeAt(0), 't-bob')
  expect(await second.line()).toBe(`joined ${idOf(1, 1)} arena/`)
  // The directory still says that it is on the second node.
  const third = await joinAs(nodeAt(2), 't-bob')
  expect(await third.line()).toBe(`joined ${idOf(1, 1)} arena/`)
  expect(await older.closed).toMatchObject({ code: 4005 })
  expect(await second.closed).toMatchObject({ code: 4005 })
})

test('[R-RET-4] a node whose connection was just lost says where the seat is', async () => {
  const { ann, older } = await startWithBobAt(1)
  older.socket.terminate()
  expect(await ann.line()).toContain('dropped')
  const newer = await joinAs(nodeAt(2), 't-bob')
  expect(await newer.line()).toBe(`joined ${idOf(1, 1)} arena/`)
})

test('[R-CL-10, R-RET-5] a late notice of a connection that was replaced closes no newer one', async () => {
  const { older } = await startWithBobAt(1)
  const [, two, three] = cluster.nodes
  if (three === undefined) throw new Error('there is none')
  // The third node writes what it has soon, the second one later.
  await joinAs(three, 't-cid')
  await cluster.clock.advance(150)
  const away = await joinAs(three, 't-bob')
  expect(await away.line()).toContain('joined')
  expect(await older.closed).toMatchObject({ code: 4005 })
  const late: (() => void)[] = []
  three.disturb((send) => late.push(send))
  await cluster.clock.advance(60)
  await cluster.settle()
  three.disturb(undefined)
  const back = await joinAs(two, 't-bob')
  expect(await back.line()).toContain('joined')
  for (const send of late) send()
  await cluster.settle()
  await cluster.pass(2000)
  expect(late.length).toBeGreaterThan(0)
  expect(back.isOpen()).toBe(true)
})

test('[R-CL-10, R-RET-5] a late question about a connection closes no newer one', async () => {
  const { ann, older } = await startWithBobAt(1)
  const [, two, three] = cluster.nodes
  if (three === undefined) throw new Error('there is none')
  const late: (() => void)[] = []
  three.disturb((send) => late.push(send))
  await joinAs(three, 't-bob')
  await expect.poll(() => late.length, waiting).toBeGreaterThan(0)
  await cluster.clock.advance(2100)
  three.disturb(undefined)
  older.socket.terminate()
  expect(await ann.line()).toContain('dropped')
  const back = await joinAs(two, 't-bob')
  expect(await back.line()).toContain('joined')
  for (const send of late) send()
  await cluster.settle()
  await cluster.pass(100)
  expect(back.isOpen()).toBe(true)
})

test('[R-RET-4, R-RET-5] the seat of another device is none while the session has its own', async () => {
  const { ann, older } = await startWithBobAt(1)
  const [one] = cluster.nodes
  const other = await joinAgain(one, 'bob')
  other.joinRoom(idOf(1, 1))
  expect(await other.line()).toContain('joined')
  await ann.line()
  other.socket.terminate()
  expect(await ann.line()).toContain('dropped')
  const newer = await joinAs(one, 't-bob')
  expect(await newer.line()).toContain('joined')
  expect(await older.closed).toMatchObject({ code: 4005 })
  expect(await one.gateway.members(idOf(1, 1))).toMatchObject([
    { user_id: 'u-ann' },
    { participant: idOf(1, 2), connected: false },
    { participant: idOf(2, 1), connected: true },
  ])
})

test('[R-CL-10] outside of rooms the older one is closed, and the newer one is somebody new', async () => {
  cluster = await startCluster(grace)
  const [one, two] = cluster.nodes
  const older = await joinAs(one, 't-bob')
  await cluster.pass(500)
  const newer = await joinAs(two, 't-bob')
  expect(await older.closed).toMatchObject({ code: 4005 })
  expect(one.script.hooks()).toEqual([`join ${idOf(1, 1)}`, `leave ${idOf(1, 1)}`])
  await expect.poll(() => two.script.hooks(), waiting).toEqual([`join ${idOf(2, 1)}`])
  await cluster.pass(2000)
  expect(newer.isOpen()).toBe(true)
})

test('[R-CL-10, R-CL-18] an older node that is silent keeps nobody waiting for longer', async () => {
  const { older } = await startWithBobAt(1)
  const [one, two, three] = cluster.nodes
  two.cut(true)
  const newer = await joinAs(three ?? one, 't-bob')
  const { script } = three ?? one
  expect(script.hooks()).toEqual([])
  await cluster.pass(2500)
  expect(script.hooks()).toEqual([`join ${idOf(3, 1)}`])
  // The directory has what the bus has lost.
  expect(await older.closed).toMatchObject({ code: 4005 })
  expect(newer.isOpen()).toBe(true)
})

test('[R-RET-5] without a grace nothing is handed over', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const older = await joinAs(one, 't-bob', 2)
  older.create('arena')
  await older.lines(2)
  await cluster.pass(500)
  const newer = await joinAs(two, 't-bob')
  await cluster.pass(1500)
  expect(await older.closed).toMatchObject({ code: 4005 })
  expect(two.script.hooks()).toEqual([`join ${idOf(2, 1)}`])
  expect(newer.received).toEqual([])
  expect(one.gateway.metrics()).toMatchObject({ rooms_active: 0 })
})

for (const { title, at } of [
  { title: 'on the node of its room', at: 2 },
  { title: 'on another node', at: 3 },
]) {
  test(`[R-CL-16, R-RET-4] who left a room unheard comes back to the one it is in, ${title}`, async () => {
    cluster = await startCluster({ size: 4, rooms: { reconnect_grace_ms: 60_000 } })
    const ann = await joinAs(nodeAt(0), 't-ann', 2)
    ann.create('arena')
    await ann.lines(2)
    const cid = await joinAs(nodeAt(2), 't-cid', 2)
    cid.create('lake')
    await cid.lines(2)
    const older = await joinAs(nodeAt(1), 't-bob')
    older.create('arena')
    await older.line()
    nodeAt(0).cut(true)
    await cluster.pass(7000)
    older.leave()
    expect(await older.line()).toContain('left')
    await cluster.pass(1000)
    expect(nodeAt(0).gateway.metrics()).toMatchObject({ dropped_seats_active: 1 })
    older.create('lake')
    expect(await older.line()).toBe(`joined ${idOf(3, 1)} lake/`)
    await cluster.pass(500)
    for (const node of [0, at]) {
      const { script } = nodeAt(node)
      const device = await joinAgain(nodeAt(node), 'bob')
      const own = `join ${idOf(node + 1, node === 3 ? 1 : 2)}`
      // The node that is cut off is asked for a seat, and does not answer.
      const hooks = async () => {
        await cluster.pass(100)
        return script.hooks()
      }
      await expect.poll(hooks, waiting).toContain(own)
      device.end()
    }
    const newer = await joinAs(nodeAt(at), 't-bob')
    expect(await newer.line()).toBe(`joined ${idOf(3, 1)} lake/`)
    expect(await older.closed).toMatchObject({ code: 4005 })
    expect(await nodeAt(2).gateway.members(idOf(3, 1))).toContainEqual(
      expect.objectContaining({ participant: idOf(2, 1), connected: true }),
    )
  })
}
