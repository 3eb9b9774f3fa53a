import { afterEach, expect, test } from 'vitest'
import { joinAs } from '../play/rooms/rooms.fixture.ts'
import { bytesOf, type FixtureOptions, waiting } from '../realtime.fixture.ts'
import { type ClusterFixture, type ClusterNode, startCluster } from './cluster.fixture.ts'

/** What members of other nodes cost, and who pays for it. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const roomId = 2 ** 40 + 1

/** A room of the first node with Ann in it, who hears nothing of the others. */
async function startRoom(options: FixtureOptions & { size?: number } = {}) {
  cluster = await startCluster(options)
  const ann = await joinAs(cluster.nodes[0], 't-ann')
  ann.create('arena')
  await ann.line()
}

async function enterAt(node: ClusterNode | undefined, name: string) {
  if (node === undefined) throw new Error('no such node')
  node.backend.add(name)
  const player = await joinAs(node, `t-${name}`)
  player.create('arena')
  expect(await player.line()).toBe(`joined ${roomId} arena/`)
  return player
}

function sayToOthers(body: Uint8Array): void {
  cluster.nodes[0].gateway.broadcast({
    ...{ kind: 101, body, unreliable: false, sender: 0, except: [roomId] },
    room_id: roomId,
  })
}

test('[R-CL-6] a broadcast costs one message for each edge, however many members it has', async () => {
  await startRoom({ size: 3 })
  const [one, two, three] = cluster.nodes
  const members = [await enterAt(three, 'dan')]
  for (const name of ['bob', 'cid', 'eve']) members.push(await enterAt(two, name))
  await cluster.settle()
  const items = () => one.gateway.metrics().relay_messages_out_total
  const before = items()
  let left = 0
  one.disturb((leave) => {
    left += 1
    leave()
  })
  sayToOthers(bytesOf('x'))
  for (const member of members) expect((await member.next()).kind).toBe(101)
  expect([left, items() - before]).toEqual([2, 2])
})

test('[R-CL-8, R-BP-1] a member whose lane overflows is closed by its edge, and leaves', async () => {
  await startRoom({ limits: { reliable_queue_bytes: 400 } })
  const [one, two] = cluster.nodes
  const bob = await enterAt(two, 'bob')
  sayToOthers(new Uint8Array(500))
  expect(await bob.closed).toEqual({ code: 4008, reason: 'slow consumer' })
  await expect.poll(() => one.gateway.members(roomId), waiting).toHaveLength(1)
})

test('[R-CL-8, R-LIM-6] an owner whose script is full is sent no more than 64 messages each', async () => {
  await startRoom()
  const [one, two] = cluster.nodes
  one.script.kinds.add(100)
  const bob = await enterAt(two, 'bob')
  await cluster.settle()
  const arrived = () => one.gateway.metrics().relay_messages_in_total
  const taken = () => two.gateway.metrics().messages_in_total
  const [before, takenBefore] = [arrived(), taken()]
  one.script.isCongested = true
  for (let count = 1; count <= 100; count += 1) bob.send(100, String(count))
  await expect.poll(() => taken() - takenBefore, waiting).toBe(64)
  await cluster.settle()
  expect(arrived() - before).toBe(64)
  one.script.drain()
  const heard = () =>
    one.script.calls.flatMap((call) => (call.hook === 'message' ? String(call.body) : []))
  await expect.poll(heard, waiting).toHaveLength(100)
  expect(heard()).toEqual(Array.from({ length: 100 }, (_, at) => String(at + 1)))
})
