import { kinds, sessionInfoBody, sessionOptionsBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { type RealtimeFixture, startRealtime, waiting } from '../../realtime.fixture.ts'
import { createArrivals } from '../participants/arrivals.ts'
import { joinAs } from '../rooms/rooms.fixture.ts'

/** How an edge asks for a seat; where the owner is elsewhere, it may be lost before it arrives. */

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const graceMs = 10_000

/** Ann has dropped out of room 1. */
async function startDropped() {
  realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs } })
  const ann = await joinAs(realtime, 't-ann')
  ann.create('a')
  await ann.line()
  ann.end()
  await expect.poll(() => realtime.gateway.metrics().dropped_seats_active, waiting).toBe(1)
  const account = realtime.backend.players.get('t-ann')
  if (account === undefined) throw new Error('ann has no session')
  return { owner: realtime.gateway.owner, account }
}

test('[R-RET-4] a seat is claimed once, with the place where its participant is', async () => {
  const { owner, account } = await startDropped()
  expect(await owner.claim(account)).toMatchObject({ participant: 1, place: { room_id: 1 } })
  expect(await owner.claim(account)).toBeUndefined()
  expect(realtime.gateway.metrics()).toMatchObject({ dropped_seats_active: 0, rooms_active: 1 })
})

test('[R-RET-4] a claim whose connection is lost before it arrives gives the seat back', async () => {
  const { owner, account } = await startDropped()
  await owner.claim(account)
  owner.leave(1, 'kept', [])
  expect(realtime.gateway.metrics().dropped_seats_active).toBe(1)
  const again = await realtime.join('t-ann')
  again.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
  await expect
    .poll(() => again.received.map(({ kind }) => kind), waiting)
    .toEqual([kinds.ROOM_JOINED.first, kinds.SESSION_INFO.first])
  const info = sessionInfoBody.decode(again.received[1]?.body ?? new Uint8Array())
  expect(info).toMatchObject({ participant: 1, room_id: 1 })
})

test('[R-RET-6] a seat that was given back ends by its grace', async () => {
  const { owner, account } = await startDropped()
  await owner.claim(account)
  owner.leave(1, 'kept', [])
  await realtime.clock.advance(graceMs)
  expect(realtime.gateway.metrics()).toMatchObject({ dropped_seats_active: 0, rooms_active: 0 })
  expect(realtime.script.hooks()).toEqual(['join 1', 'drop 1', 'leave 1'])
})

test('[R-CL-10] who goes on with the claim of an older connection has its own number', async () => {
  const { account } = await startDropped()
  const numbered: string[] = []
  const elsewhere = { connecting: async (session: string) => void numbered.push(session) }
  const deps = { elsewhere } as unknown as Parameters<typeof createArrivals>[0]
  const claimed = { participant: 1, place: { room_id: 1 } } as never
  expect(await createArrivals(deps).claim(account, Promise.resolve(claimed))).toBe(claimed)
  expect(numbered).toEqual(['s-ann'])
})
