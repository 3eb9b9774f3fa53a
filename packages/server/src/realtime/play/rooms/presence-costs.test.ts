import { encodeFrame, kinds, roomCreateBody } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { StreamsConnection } from '../../connection/transports/streams-connection.fixture.ts'
import { bytesOf, type RealtimeFixture, startRealtime, waiting } from '../../realtime.fixture.ts'
import { createPresenceCosts } from './presence-costs.ts'
import { joinAll, type Player, playerOf } from './rooms.fixture.ts'

describe('a large room', () => {
  let realtime: RealtimeFixture
  afterEach(() => realtime.close())

  /** A room with so many guests in it. */
  async function startHall(members: number): Promise<void> {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: 10_000 } })
    for (let count = 0; count < members; count += 1) {
      openPeer(encodeFrame(kinds.AUTH.first, new Uint8Array()), enterHall)
    }
    await expect.poll(playersInHall, waiting).toBe(members)
  }

  const enterHall = encodeFrame(21, roomCreateBody.encode({ name: 'hall' }))
  const playersInHall = async () => (await realtime.gateway.rooms())[0]?.players
  const metrics = () => realtime.gateway.metrics()

  function openPeer(...frames: Uint8Array[]): StreamsConnection {
    const peer = new StreamsConnection()
    peer.events = realtime.gateway.accept(peer)
    for (const frame of frames) peer.events.received(0, frame)
    return peer
  }

  test('[R-LIM-5] entering it again and again costs what its members are sent', async () => {
    await startHall(199)
    const [ann] = (await joinAll(realtime, 1)) as [Player]
    for (let round = 0; round < 200; round += 1) {
      ann.create('hall')
      ann.leave()
      expect(await ann.lines(2)).toEqual(['joined 1 hall/', 'left 1'])
    }
    ann.create('hall')
    expect(await ann.line()).toBe('rejected 21 too many requests')
    ann.create('small')
    expect(await ann.line()).toBe('joined 2 small/')
    await realtime.clock.advance(10)
    ann.create('hall')
    expect(await ann.line()).toBe('joined 1 hall/')
  })

  test('[R-RET-1] so does dropping out of it and returning: beyond that no seat is kept', async () => {
    await startHall(199)
    const auth = encodeFrame(kinds.AUTH.first, bytesOf('t-ann'))
    const joined = (peer: StreamsConnection) =>
      expect.poll(() => peer.kinds(), waiting).toContain(kinds.ROOM_JOINED.first)
    let peer = openPeer(auth, enterHall)
    await joined(peer)
    // Ann is a member herself; her entry has cost 200.
    const returns = Math.floor((40_000 - 200) / 201)
    for (let round = 0; round < returns; round += 1) {
      peer.events.closed()
      peer = openPeer(auth)
      await joined(peer)
    }
    expect(metrics()).toMatchObject({ seats_returned_total: returns })
    peer.events.closed()
    expect(metrics()).toMatchObject({ dropped_seats_active: 0 })
    expect(await playersInHall()).toBe(199)
    const again = playerOf(await realtime.join('t-ann'))
    again.create('hall')
    expect(await again.line()).toBe('rejected 21 too many requests')
    await realtime.clock.advance(11)
    again.create('hall')
    expect(await again.line()).toBe('joined 1 hall/')
    await realtime.clock.advance(11)
    again.end()
    await expect.poll(() => metrics().dropped_seats_active, waiting).toBe(1)
  })
})

test('[R-RET-1] each account pays for itself, and is forgotten when its bucket is full', async () => {
  const clock = createFakeClock()
  const costs = createPresenceCosts(clock)
  expect(costs.pay('u-ann', 39_999)).toBe(true)
  expect(costs.pay('u-ann', 0)).toBe(false)
  expect(costs.pay('u-bob', 39_999)).toBe(true)
  expect(costs.size).toBe(2)
  await clock.advance(2000)
  expect(costs.pay('u-cid', 0)).toBe(true)
  expect(costs.size).toBe(1)
})
