import { kinds, roomJoinedBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { waiting } from '../../realtime.fixture.ts'
import { type ClusterFixture, type ClusterNode, leaseMs } from '../cluster.fixture.ts'
import { type Gatherer, gatherer, startGatherings } from './coordination.fixture.ts'

/** Players of several nodes find each other, whatever happens to the node that coordinates. */

let cluster: ClusterFixture
afterEach(() => cluster.close())

const grace = { rooms: { reconnect_grace_ms: 10_000 } }

/** The node that coordinates, and the others. */
async function roles(): Promise<[ClusterNode, ClusterNode, ClusterNode | undefined]> {
  const coordinates = (node: ClusterNode) => node.gateway.metrics().coordinator === 1
  await expect.poll(() => cluster.nodes.filter(coordinates).length, waiting).toBe(1)
  const [first, second] = cluster.nodes.filter((node) => !coordinates(node))
  const coordinator = cluster.nodes.find(coordinates)
  if (coordinator === undefined || first === undefined) throw new Error('there is none')
  return [coordinator, first, second]
}

async function joinedBy({ next }: Gatherer): Promise<number> {
  return roomJoinedBody.decode((await next(kinds.ROOM_JOINED.first)).body).room_id
}

async function acceptMatch(player: Gatherer): Promise<number> {
  const { ticket_id, join_token, match_id } = await player.matched()
  expect(await player.call('matchmaker.accept', { ticket_id, join_token })).toEqual({
    accepted: true,
    match_id,
  })
  return joinedBy(player)
}

test('[R-CL-12] players of two nodes find each other, and enter one room', async () => {
  cluster = await startGatherings()
  const [coordinator, edge] = await roles()
  const ann = await gatherer(coordinator, 'ann')
  const bob = await gatherer(edge, 'bob')
  const properties = { mode: 'duel' }
  const added = await ann.call('matchmaker.add', { properties, query: "mode == 'duel'" })
  await cluster.clock.advance(1)
  await bob.call('matchmaker.add', { properties, query: "mode == 'duel'" })
  const rooms = [await acceptMatch(ann), await acceptMatch(bob)]
  expect(rooms[0]).toBe(rooms[1])
  // The room is where most of the players are; of several that of the oldest.
  expect(coordinator.gateway.metrics().rooms_active).toBe(1)
  expect(await ann.call('matchmaker.status', added as object)).toMatchObject({ state: 'matched' })
})

test('[R-CL-12] the room is made where most of the players are, and a token is used once', async () => {
  cluster = await startGatherings()
  const [coordinator, edge] = await roles()
  const ann = await gatherer(coordinator, 'ann')
  const asked: string[] = []
  for (const [name, node] of Object.entries({ coordinator, edge })) {
    const { onMatched } = node.script
    node.script.onMatched = (call) => {
      asked.push(name)
      return onMatched(call)
    }
  }
  const others = [await gatherer(edge, 'bob'), await gatherer(edge, 'cid')]
  for (const each of [ann, ...others]) await each.call('matchmaker.add', { min_count: 3 })
  const match = await ann.matched()
  const { ticket_id, join_token } = match
  const token = { ticket_id, join_token }
  expect(await ann.call('matchmaker.accept', { ...token, ticket_id: 'x' })).toContain('not found')
  expect(await ann.call('matchmaker.accept', token)).toMatchObject({ accepted: true })
  expect(await joinedBy(ann)).toBe(match.match_id)
  expect(await ann.call('matchmaker.accept', token)).toBe('match handoff not found or expired')
  for (const each of others) expect(await acceptMatch(each)).toBe(match.match_id)
  expect(edge.gateway.metrics().rooms_active).toBe(1)
  expect(asked).toEqual(['edge'])
})

test('[R-CL-12, R-PTY-7, R-PTY-8] a party has members of two nodes, who hear each other', async () => {
  cluster = await startGatherings()
  const [coordinator, edge] = await roles()
  const ann = await gatherer(edge, 'ann')
  const bob = await gatherer(coordinator, 'bob')
  const { party_id } = (await ann.call('party.create')) as { party_id: string }
  await ann.call('party.invite', { party_id, target_user_id: 'u-bob' })
  expect(await bob.push('party.invited')).toMatchObject({ party_id, leader_username: 'ann' })
  expect(await bob.call('party.accept', { party_id })).toMatchObject({
    members: [
      { user_id: 'u-ann', online: true },
      { user_id: 'u-bob', online: true },
    ],
  })
  await bob.call('party.send', { party_id, data: { go: 1 } })
  expect(await ann.push('party.message')).toMatchObject({ sender_user_id: 'u-bob' })
  // One ticket for both, and one room.
  await ann.call('matchmaker.add', { party_id })
  expect(await acceptMatch(ann)).toBe(await acceptMatch(bob))
  bob.player.end()
  await expect
    .poll(async () => await ann.call('party.status'), waiting)
    .toMatchObject({ members: [{ online: true }, { online: false }] })
})

test('[R-CL-12, R-CL-16, R-PTY-3] a coordinator dies: tickets and parties keep ids and ages', async () => {
  cluster = await startGatherings({ size: 3, ...grace, party: { invite_ttl_ms: 25_000 } })
  const [coordinator, edge, other] = await roles()
  const ann = await gatherer(edge, 'ann')
  const bob = await gatherer(other ?? edge, 'bob')
  const { party_id } = (await ann.call('party.create', { open: true })) as { party_id: string }
  await bob.call('party.join', { party_id })
  edge.backend.add('dan')
  await ann.call('party.invite', { party_id, target_user_id: 'u-dan' })
  const before = (await ann.call('party.status')) as { revision: number }
  const ticket = (await ann.call('matchmaker.add', { party_id, min_count: 3 })) as object
  await cluster.pass(2000)
  coordinator.kill()
  const during = bob.call('party.status')
  await cluster.pass(2000)
  expect(await during).toBe('matchmaker is temporarily unavailable')
  await cluster.pass(3 * leaseMs)
  expect((await roles())[0]).not.toBe(coordinator)
  const after = (await ann.call('party.status')) as { revision: number }
  expect(after).toMatchObject({ party_id, open: true, members: [{}, { user_id: 'u-bob' }] })
  expect(after).toMatchObject({ invitations: [{ user_id: 'u-dan' }] })
  expect(after.revision).toBeGreaterThan(before.revision)
  expect(await ann.push('party.presence.resync')).toMatchObject({ party_id })
  const status = (await bob.call('matchmaker.status', ticket)) as { waited_ms: number }
  expect(status).toMatchObject({ ...ticket, state: 'queued' })
  expect(status.waited_ms).toBeGreaterThanOrEqual(2000 + 3 * leaseMs)
  await cluster.pass(6500)
  expect(await ann.call('party.status')).toMatchObject({ invitations: [] })
  const cid = await gatherer(edge, 'cid')
  await cid.call('matchmaker.add', { min_count: 3 })
  expect(await acceptMatch(cid)).toBe(await acceptMatch(bob))
})

test('[R-CL-12] a coordinator that stops hands over what only it knows', async () => {
  cluster = await startGatherings()
  const [coordinator, edge] = await roles()
  const ann = await gatherer(coordinator, 'ann')
  const { party_id } = (await ann.call('party.create', { open: true })) as { party_id: string }
  void coordinator.gateway.close()
  await cluster.pass(1000)
  expect((await roles())[0]).toBe(edge)
  // Ann's connection has ended with 1001: she counts as connected for 10 s.
  const bob = await gatherer(edge, 'bob')
  expect(await bob.call('party.join', { party_id })).toMatchObject({
    members: [{ user_id: 'u-ann', online: true }, { user_id: 'u-bob' }],
  })
  await cluster.pass(10_500)
  expect(await bob.call('party.status')).toMatchObject({ members: [{ online: false }, {}] })
})

test('[R-CL-13] without the bus calls of other nodes are refused; behind it all is as before', async () => {
  cluster = await startGatherings()
  const [, edge] = await roles()
  const ann = await gatherer(edge, 'ann')
  const { party_id } = (await ann.call('party.create')) as { party_id: string }
  edge.cut(true)
  const refused = ann.call('party.status')
  await cluster.pass(2500)
  expect(await refused).toBe('matchmaker is temporarily unavailable')
  edge.cut(false)
  await cluster.pass(2000)
  expect(await ann.call('party.status')).toMatchObject({ party_id })
})

test('[R-CL-12] a party that the new coordinator does not have is closed', async () => {
  cluster = await startGatherings({ size: 3 })
  const [coordinator, edge] = await roles()
  const ann = await gatherer(edge, 'ann')
  const { party_id } = (await ann.call('party.create')) as { party_id: string }
  edge.cut(true)
  coordinator.kill()
  // The lease passes, another one collects without this edge, and it is back afterwards.
  await cluster.pass(3 * leaseMs + 3000)
  edge.cut(false)
  await cluster.pass(3000)
  expect(await ann.push('party.closed')).toEqual({
    ...{ type: 'party.closed', party_id, reason: 'coordinator_lost' },
  })
  expect(await ann.call('party.status')).toBe('party membership required')
})

test('[R-CL-12, R-MM-9] a ticket goes with the last connection over all nodes', async () => {
  cluster = await startGatherings()
  const [coordinator, edge] = await roles()
  const ann = await gatherer(edge, 'ann')
  const { players, live } = coordinator.backend
  const account = players.get('t-ann')
  if (account === undefined) throw new Error('no account')
  players.set('t-ann2', { ...account, session_id: 's-ann2' })
  live.add('s-ann2')
  const second = await coordinator.join('t-ann2')
  const ticket = (await ann.call('matchmaker.add')) as object
  second.end()
  await cluster.settle()
  expect(await ann.call('matchmaker.status', ticket)).toMatchObject({ state: 'queued' })
  ann.player.end()
  await expect.poll(() => coordinator.gateway.matchmaker().queued_tickets, waiting).toBe(0)
})
