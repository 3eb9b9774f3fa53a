import { kinds } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { type RealtimeFixture, textOf, waiting } from '../../realtime.fixture.ts'
import { call, crowds, found } from '../parties/parties.fixture.ts'
import type { Player } from '../rooms/rooms.fixture.ts'
import { add, cancel } from './matchmaker.fixture.ts'

const crowd = crowds()
let realtime: RealtimeFixture
afterEach(() => {
  expect(realtime.gateway.matchmaker().queued_tickets).toBe(0)
})

async function start() {
  const clients = await crowd.start()
  realtime = clients.realtime
  return clients
}

/** Ann leads a party of the three, which is queued. */
async function startQueued() {
  const { ann, bob, cid } = await start()
  const { party_id } = await found(ann)
  for (const [member, target_user_id] of [
    [bob, 'u-bob'],
    [cid, 'u-cid'],
  ] as const) {
    await call(ann, 'invite', { party_id, target_user_id })
    await call(member, 'accept', { party_id })
  }
  await expect.poll(() => [ann, bob, cid].map(({ received }) => received.length > 1)).toBeTruthy()
  const ticket_id = await add(await crowd.joinAgain('ann'), { party_id, min_count: 9 })
  return { ann, bob, cid, party_id, ticket_id }
}

test('[R-MM-19] an expired ticket is pushed to every connection of its account', async () => {
  const { ann, bob } = await start()
  const phone = await crowd.joinAgain('ann')
  const ticket_id = await add(ann, { ttl_ms: 1000 })
  await realtime.clock.advance(1100)
  const push = { type: 'matchmaker.removed', ticket_id, reason: 'expired' }
  for (const client of [ann, phone]) await expectRemovals(client, [push])
  await expectRemovals(bob, [])
})

test('[R-MM-19] a guest hears of its own ticket', async () => {
  await start()
  const guest = await crowd.guest()
  const ticket_id = await add(guest, { ttl_ms: 1000 })
  await realtime.clock.advance(1100)
  await expectRemovals(guest, [{ type: 'matchmaker.removed', ticket_id, reason: 'expired' }])
})

test("[R-MM-19] the owner's cancel is pushed to nobody, of a party neither", async () => {
  const { ann, bob, cid, ticket_id } = await startQueued()
  expect(await cancel(await crowd.joinAgain('ann'), ticket_id)).toEqual({ cancelled: true })
  for (const client of [ann, bob, cid]) await expectRemovals(client, [])
})

test('[R-MM-19] a member who leaves the party ends its ticket for all, and hears it too', async () => {
  const { ann, bob, cid, party_id, ticket_id } = await startQueued()
  await call(bob, 'leave', { party_id })
  const push = { type: 'matchmaker.removed', ticket_id, reason: 'party' }
  for (const client of [ann, bob, cid]) await expectRemovals(client, [push])
})

test('[R-MM-19] the last connection of a member ends the ticket of the party', async () => {
  const { ann, bob, cid, ticket_id } = await startQueued()
  bob.end()
  const push = { type: 'matchmaker.removed', ticket_id, reason: 'offline' }
  for (const client of [ann, cid]) await expectRemovals(client, [push])
})

/** What the client was sent about tickets; a call that is answered shows that nothing follows. */
async function expectRemovals(client: Player, pushes: unknown[]): Promise<void> {
  const removals = () =>
    client.received
      .filter(({ kind }) => kind === kinds.NOTIFICATION.first)
      .map(({ body }) => JSON.parse(textOf(body)))
      .filter(({ type }) => type === 'matchmaker.removed')
  if (pushes.length === 0) await call(client, 'status')
  await expect.poll(removals, waiting).toEqual(pushes)
}
