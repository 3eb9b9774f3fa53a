import { kinds, sessionOptionsBody } from '@guildhall/contract'
import { afterEach, expect, test } from 'vitest'
import { type RealtimeFixture, startRealtime } from '../../realtime.fixture.ts'
import { barrier, joinAll, joinAs } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

test('[R-PRS-1] a snapshot behind ROOM_JOINED, then every join and leave of others', async () => {
  realtime = await startRealtime()
  const ann = await joinAs(realtime, 't-ann', 1)
  const [bob, cid] = await joinAll(realtime, 2)
  bob?.create('a')
  await bob?.line()
  ann.create('a')
  expect(await ann.lines(2)).toEqual(['joined 1 a/', 'v1 snapshot 1 1:u-ann 2'])
  cid?.create('a')
  await cid?.line()
  bob?.leave()
  expect(await ann.lines(2)).toEqual(['v1 joined 1 3', 'v1 left 1 2:left'])
  ann.create('a')
  expect(await ann.line()).toBe('joined 1 a/')
  ann.leave()
  expect(await ann.lines(2)).toEqual(['v1 left 1 1:u-ann:left', 'left 1'])
  // Who did not ask hears its own answers only.
  expect(await bob?.line()).toBe('left 1')
  expect([bob?.received, cid?.received]).toEqual([[], []])
})

test('[R-PRS-1] on a move the own left stands before ROOM_JOINED', async () => {
  realtime = await startRealtime()
  const [ann] = await joinAll(realtime, 1, 1)
  ann?.create('a')
  await ann?.lines(2)
  ann?.create('b')
  expect(await ann?.lines(3)).toEqual(['v1 left 1 1:left', 'joined 2 b/', 'v1 snapshot 2 1'])
})

test('[R-PRS-4] version 2 has names, and goes beside version 1', async () => {
  realtime = await startRealtime()
  const ann = await joinAs(realtime, 't-ann', 2)
  const bob = await joinAs(realtime, 't-bob', 1)
  ann.create('a')
  expect(await ann.lines(2)).toEqual(['joined 1 a/', 'v2 snapshot 1 1:u-ann:ann'])
  bob.create('a')
  expect(await bob.lines(2)).toEqual(['joined 1 a/', 'v1 snapshot 1 1:u-ann 2:u-bob'])
  expect(await ann.line()).toBe('v2 joined 1 2:u-bob:bob')
  ann.leave()
  expect(await bob.line()).toBe('v1 left 1 1:u-ann:left')
})

test('[R-PRS-3] a large snapshot comes in parts, in the order of participants', async () => {
  realtime = await startRealtime({ limits: { max_connections_per_address: 1000 } })
  const guests = await joinAll(realtime, 258)
  for (const guest of guests.slice(0, 257).toReversed()) guest.create('a')
  await barrier(realtime, ...guests)
  await expect.poll(async () => (await realtime.gateway.rooms())[0]?.players).toBe(257)
  const last = guests[257]
  last?.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 9 }))
  last?.create('a')
  const [, joined, first, second] = (await last?.lines(4)) ?? []
  expect(joined).toBe('joined 1 a/')
  const ids = Array.from({ length: 258 }, (_, index) => `${index + 1}`)
  expect(first).toBe(`v2 snapshot 1 ${ids.slice(0, 256).join(' ')} ...`)
  expect(second).toBe('v2 snapshot 1 257 258')
})
