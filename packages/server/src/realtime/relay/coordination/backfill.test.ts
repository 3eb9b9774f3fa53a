import { kinds, roomJoinedBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { waiting } from '../../realtime.fixture.ts'
import type { ClusterFixture, ClusterNode } from '../cluster.fixture.ts'
import { leaseMs } from '../cluster.fixture.ts'
import { type Gatherer, gatherer, startGatherings } from './coordination.fixture.ts'

/** Rooms of nodes that do not coordinate offer free seats to the tickets of all. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

/** A room of Cid's on a node that does not coordinate. */
async function startWithRoom(size = 2) {
  cluster = await startGatherings({ size })
  const coordinates = (node: ClusterNode) => node.gateway.metrics().coordinator === 1
  await expect.poll(() => cluster.nodes.some(coordinates), waiting).toBe(true)
  const coordinator = cluster.nodes.find(coordinates)
  const owner = cluster.nodes.find((node) => !coordinates(node))
  if (coordinator === undefined || owner === undefined) throw new Error('there is none')
  const cid = await gatherer(owner, 'cid')
  cid.player.create('arena')
  return { coordinator, owner, room: await joinedBy(cid) }
}

async function joinedBy({ next }: Gatherer): Promise<number> {
  return roomJoinedBody.decode((await next(kinds.ROOM_JOINED.first)).body).room_id
}

function offerOf({ gateway }: ClusterNode, room: number, seats: number): string {
  const made = gateway.backfill.add(room, seats, { query: 'elo >= 5', properties: { mode: 'ctf' } })
  if (!('ticketId' in made)) throw new Error(made.refusal)
  return made.ticketId
}

const fits = { min_count: 3, query: 'mode == "ctf"', properties: { elo: 9 } }

async function acceptMatch(player: Gatherer): Promise<number> {
  const { ticket_id, join_token } = await player.matched()
  await player.call('matchmaker.accept', { ticket_id, join_token })
  return joinedBy(player)
}

test('[R-MM-15, R-MM-16, R-CL-12] an offer takes players of every node, wherever its room is', async () => {
  const { coordinator, owner, room } = await startWithRoom()
  const offer = offerOf(owner, room, 2)
  const ann = await gatherer(coordinator, 'ann')
  const bob = await gatherer(owner, 'bob')
  await ann.call('matchmaker.add', { ...fits, properties: { elo: 1 } })
  await bob.call('matchmaker.add', fits)
  await cluster.pass(1000)
  expect(await acceptMatch(bob)).toBe(room)
  expect(owner.gateway.backfill.status(offer)).toEqual({ seats: 1, waiting: 0 })
  expect(ann.player.received).toEqual([])
  const dan = await gatherer(coordinator, 'dan')
  await dan.call('matchmaker.add', fits)
  await cluster.pass(1000)
  expect(await acceptMatch(dan)).toBe(room)
  expect(await owner.gateway.members(room)).toHaveLength(3)
  expect(owner.gateway.backfill.status(offer)).toBeNull()
  expect(coordinator.gateway.matchmaker()).toMatchObject({
    ...{ tickets_formed_total: 2, matches_formed_total: 0, queued_tickets: 1 },
  })
})

test('[R-MM-17] a token that expires gives its seat back, and others are sent there', async () => {
  const { coordinator, owner, room } = await startWithRoom()
  const offer = offerOf(owner, room, 2)
  const ann = await gatherer(coordinator, 'ann')
  const bob = await gatherer(coordinator, 'bob')
  await ann.call('matchmaker.add', fits)
  await cluster.pass(1000)
  await ann.matched()
  expect(owner.gateway.backfill.status(offer)).toEqual({ seats: 1, waiting: 1 })
  await cluster.pass(30_000)
  expect(owner.gateway.backfill.status(offer)).toEqual({ seats: 2, waiting: 0 })
  await bob.call('matchmaker.add', fits)
  await cluster.pass(1000)
  expect(await acceptMatch(bob)).toBe(room)
})

test('[R-MM-17] a cancelled offer takes nobody, and its tickets wait on', async () => {
  const { coordinator, owner, room } = await startWithRoom()
  const offer = offerOf(owner, room, 2)
  await cluster.pass(1000)
  expect(owner.gateway.backfill.cancel(offer)).toBe(true)
  const ann = await gatherer(coordinator, 'ann')
  await ann.call('matchmaker.add', fits)
  await cluster.pass(1000)
  expect(coordinator.gateway.matchmaker()).toMatchObject({ queued_tickets: 1 })
})

test('[R-MM-16, R-CL-16] a node that is not reached takes nobody: the tickets wait, and come later', async () => {
  const { coordinator, owner, room } = await startWithRoom()
  offerOf(owner, room, 2)
  await cluster.pass(1000)
  const ann = await gatherer(coordinator, 'ann')
  coordinator.disturb(() => {})
  await ann.call('matchmaker.add', fits)
  await cluster.pass(4000)
  expect(ann.player.received).toEqual([])
  coordinator.disturb(undefined)
  await cluster.pass(8000)
  expect(await acceptMatch(ann)).toBe(room)
})

test('[R-CL-12] the next coordinator knows what is offered', async () => {
  const { coordinator, owner, room } = await startWithRoom(3)
  offerOf(owner, room, 2)
  await cluster.pass(1000)
  coordinator.kill()
  await cluster.pass(3 * leaseMs)
  const [edge] = cluster.nodes.filter((node) => node !== owner && node !== coordinator)
  if (edge === undefined) throw new Error('there is none')
  const ann = await gatherer(edge, 'ann')
  await ann.call('matchmaker.add', fits)
  await cluster.pass(2000)
  expect(await acceptMatch(ann)).toBe(room)
})
