import { afterEach, expect, test } from 'vitest'
import { joinAs } from '../play/rooms/rooms.fixture.ts'
import { type ClusterFixture, startCluster } from './cluster.fixture.ts'

/** Names of rooms, unique over all nodes whatever happens to the directory. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

test('[R-CL-4, R-CL-13] without its lease a node serves no names, and rooms go on', async () => {
  cluster = await startCluster()
  const [one] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('arena')
  expect(await ann.line()).toContain('joined')
  one.loseDirectory(true)
  await cluster.pass(5000)
  expect(one.gateway.metrics().names_suspended).toBe(1)
  const bob = await joinAs(one, 't-bob')
  bob.create('arena')
  expect(await bob.line()).toContain('room temporarily unavailable')
  const { id } = (await one.gateway.rooms()).map(({ room_id }) => ({ id: room_id }))[0] ?? { id: 0 }
  bob.joinRoom(id)
  expect(await bob.line()).toContain('joined')
  one.loseDirectory(false)
  await cluster.pass(4000)
  expect(one.gateway.metrics().names_suspended).toBe(0)
  const cid = await joinAs(one, 't-cid')
  cid.create('arena')
  expect(await cid.line()).toContain('joined')
})

test('[R-CL-4, R-CL-16] a name that was taken over closes the room that had it', async () => {
  cluster = await startCluster()
  const [one, two] = cluster.nodes
  const ann = await joinAs(one, 't-ann')
  ann.create('arena')
  await ann.line()
  // Cut off from all, it is gone for the other node.
  one.loseDirectory(true)
  one.cut(true)
  await cluster.pass(12_000)
  const bob = await joinAs(two, 't-bob')
  bob.create('arena')
  expect(await bob.line()).toContain(`joined ${2 * 2 ** 40}`.slice(0, 12))
  expect(await one.gateway.rooms()).toHaveLength(1)
  one.loseDirectory(false)
  one.cut(false)
  await cluster.pass(4000)
  expect(await ann.line()).toContain('closed')
  expect(await one.gateway.rooms()).toHaveLength(0)
  expect(await two.gateway.rooms()).toHaveLength(1)
})
