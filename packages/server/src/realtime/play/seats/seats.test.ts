import {
  encodeFrame,
  kinds,
  roomCreateBody,
  rpcRequestBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { StreamsConnection } from '../../connection/transports/streams-connection.fixture.ts'
import {
  bytesOf,
  type FixtureOptions,
  type RealtimeFixture,
  startRealtime,
  waiting,
} from '../../realtime.fixture.ts'
import { barrier, joinAgain, joinAs, type Player, playerOf } from '../rooms/rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const graceMs = 10_000

/** Ann is in a room with Bob, who asked for presence in version 2. */
async function startInRoom(options: FixtureOptions = {}): Promise<{ ann: Player; bob: Player }> {
  realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs }, ...options })
  const ann = await joinAs(realtime, 't-ann')
  const bob = await joinAs(realtime, 't-bob', 2)
  ann.create('a')
  await ann.line()
  bob.create('a')
  await bob.lines(2)
  return { ann, bob }
}

const dropped = () =>
  expect.poll(() => realtime.gateway.metrics().dropped_seats_active, waiting).toBe(1)
/** Ann on a connection that gives credit as the test says. */
async function openPeer(): Promise<StreamsConnection> {
  const peer = new StreamsConnection()
  peer.events = realtime.gateway.accept(peer)
  peer.events.received(0, encodeFrame(kinds.AUTH.first, bytesOf('t-ann')))
  await expect.poll(() => peer.kinds(), waiting).toContain(kinds.AUTH_RESULT.first)
  return peer
}

const say = (text: string) =>
  realtime.gateway.broadcast({
    kind: 100,
    body: bytesOf(text),
    unreliable: false,
    sender: 0,
    except: [],
    room_id: 1,
  })

describe('a lost connection', () => {
  test('[R-RET-1, R-RET-2, S-API-21] keeps participant, room and topics; others see the drop', async () => {
    const { ann, bob } = await startInRoom()
    realtime.gateway.joinTopic('t', 1)
    ann.end()
    expect(await bob.line()).toBe('v2 dropped 1 1:u-ann:ann:dropped')
    expect(realtime.script.calls.at(-1)).toMatchObject({
      hook: 'drop',
      context: { participant: 1, room_id: 1 },
      seat: { grace_ms: graceMs, away_ms: 0 },
    })
    expect(await realtime.gateway.members(1)).toEqual([
      { participant: 1, user_id: 'u-ann', username: 'ann', connected: false },
      { participant: 2, user_id: 'u-bob', username: 'bob', connected: true },
    ])
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 2 }])
    expect((await realtime.gateway.sessions()).map(({ participant }) => participant)).toEqual([2])
    expect(await realtime.gateway.online(['u-bob', 'u-ann', 'u-none', 'u-bob'])).toEqual(['u-bob'])
    expect(realtime.gateway.metrics()).toMatchObject({
      participants_active: 1,
      sessions_active: 1,
      topic_memberships_active: 1,
    })
    expect(realtime.script.matches().filter((line) => line.startsWith('leave'))).toEqual([])
  })

  test('[R-RET-4] a return brings label, snapshot and what was kept, in order', async () => {
    const { ann, bob } = await startInRoom()
    ann.end()
    await dropped()
    realtime.gateway.updateRoom(1, { mode: 'late' })
    say('one')
    realtime.gateway.send({ kind: 101, body: bytesOf('two'), unreliable: false, participants: [1] })
    realtime.gateway.send({ kind: 101, body: bytesOf('lost'), unreliable: true, participants: [1] })
    realtime.gateway.push(['u-ann'], 27, bytesOf('lost'))
    await realtime.clock.advance(4000)
    const again = playerOf(await realtime.connect())
    again.send(kinds.AUTH.first, 't-ann')
    again.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 9 }))
    again.send(3, Buffer.concat([Buffer.alloc(9), bytesOf('')]))
    expect(await again.lines(7)).toEqual([
      'kind 6 \u0000u-ann',
      'info',
      'joined 1 a/late',
      'v2 snapshot 1 1:u-ann:ann 2:u-bob:bob',
      'kind 100 one',
      'kind 101 two',
      expect.stringContaining('kind 4'),
    ])
    expect(await bob.lines(3)).toEqual([
      'v2 dropped 1 1:u-ann:ann:dropped',
      'kind 100 one',
      'v2 returned 1 1:u-ann:ann',
    ])
    expect(realtime.script.calls.findLast(({ hook }) => hook === 'return')).toMatchObject({
      context: { participant: 1 },
      seat: { grace_ms: 6000, away_ms: 4000 },
    })
    expect(realtime.gateway.metrics()).toMatchObject({
      dropped_seats_active: 0,
      seats_returned_total: 1,
      seats_expired_total: 0,
    })
    await realtime.clock.advance(20_000)
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 2 }])
  })

  test('[R-RET-3] positions of others are not kept', async () => {
    const { ann, bob } = await startInRoom()
    ann.end()
    await dropped()
    await bob.line()
    bob.send(1, 'there')
    await barrier(realtime, bob)
    await realtime.clock.advance(2)
    say('after')
    const again = playerOf(await realtime.connect())
    again.send(kinds.AUTH.first, 't-ann')
    expect(await again.lines(3)).toEqual(['kind 6 \u0000u-ann', 'joined 1 a/', 'kind 100 after'])
  })

  test('[R-RET-3] what had not left yet is kept as far as it means something to who returns', async () => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs } })
    const { gateway, script } = realtime
    const peer = await openPeer()
    peer.events.received(0, encodeFrame(21, roomCreateBody.encode({ name: 'a' })))
    await expect.poll(() => peer.kinds(), waiting).toEqual([6, 23])
    peer.credit = 0
    peer.datagrams.room = 0
    const request = { request_id: 1n, method: 'echo', payload: bytesOf('') }
    peer.events.received(0, encodeFrame(3, rpcRequestBody.encode(request)))
    peer.events.received(0, encodeFrame(22, new Uint8Array(8)))
    await expect.poll(() => gateway.metrics().room_rejects_total, waiting).toBe(1)
    await expect.poll(() => script.hooks(), waiting).toContain('rpc 1')
    gateway.push(['u-ann'], 28, bytesOf('{}'))
    const to = { body: bytesOf('x'), participants: [1] }
    gateway.send({ kind: 101, ...to, unreliable: false })
    gateway.send({ kind: 102, ...to, unreliable: true })
    gateway.send({ kind: 103, ...to, unreliable: false })
    peer.events.closed()
    expect(gateway.metrics().dropped_seats_active).toBe(1)
    const again = await openPeer()
    await expect.poll(() => again.kinds(), waiting).toEqual([6, 23, 28, 101, 103])
    expect(again.sent.datagrams).toEqual([])
    expect(gateway.metrics().reliable_queue_bytes).toBe(0)
  })

  test.each([
    ['of its own session', 't-ann', 1],
    ['that dropped last, where its session has none', 't-ann3', 2],
  ])('[R-RET-4] of several seats of an account it takes the one %s', async (_, token, taken) => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs } })
    const [ann, ann2] = [await joinAs(realtime, 't-ann'), await joinAgain(realtime, 'ann')]
    const third = realtime.backend.players.get('t-ann')
    if (third === undefined) throw new Error('ann has no session')
    realtime.backend.players.set('t-ann3', { ...third, session_id: 's-ann3' })
    realtime.backend.live.add('s-ann3')
    for (const [count, player] of [ann, ann2].entries()) {
      player.create('a')
      await player.line()
      player.end()
      const { metrics } = realtime.gateway
      await expect.poll(() => metrics().dropped_seats_active, waiting).toBe(count + 1)
    }
    await realtime.join(token)
    const [back] = await realtime.gateway.sessions()
    expect(back?.participant).toBe(taken)
  })

  test('[R-RET-6] the seat ends with the grace, and the last one ends the room', async () => {
    const { ann, bob } = await startInRoom()
    bob.leave()
    await bob.lines(2)
    ann.end()
    await dropped()
    await realtime.clock.advance(graceMs - 1)
    expect((await realtime.gateway.rooms()).length).toBe(1)
    await realtime.clock.advance(1)
    expect(await realtime.gateway.rooms()).toEqual([])
    expect(realtime.script.hooks().slice(-2)).toEqual(['drop 1', 'leave 1'])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) final_departure')
    const again = playerOf(await realtime.join('t-ann'))
    again.create('a')
    expect(await again.line()).toBe('joined 2 a/')
    expect(realtime.gateway.metrics().seats_expired_total).toBe(1)
  })

  test('[R-RET-5] a newer connection of the session takes the seat over at once', async () => {
    const { ann, bob } = await startInRoom()
    const young = playerOf(await realtime.join('t-ann'))
    expect(await ann.closed).toEqual({ code: 4005, reason: 'session replaced' })
    expect(await young.line()).toBe('joined 1 a/')
    expect(await bob.lines(2)).toEqual([
      'v2 dropped 1 1:u-ann:ann:dropped',
      'v2 returned 1 1:u-ann:ann',
    ])
    expect(realtime.script.hooks().slice(-2)).toEqual(['drop 1', 'return 1'])
  })

  test.each([1001, 1002, 1003, 1007, 1009, 1011, 3000, 4000, 4003])(
    '[R-RET-1] a close by the peer with %i keeps the seat',
    async (code) => {
      const { ann } = await startInRoom()
      ann.close(code, code === 1009 ? 'message too big' : '')
      await dropped()
    },
  )

  test('[R-RET-1] so does a peer that is not alive any more', async () => {
    const { ann } = await startInRoom()
    ann.pause()
    await realtime.clock.advance(15_000 + 45_000)
    await dropped()
    expect(realtime.gateway.metrics().websocket_liveness_timeouts_total).toBe(1)
  })
})

describe('no seat is kept', () => {
  test.each([
    ['a close with 1000', (ann: Player) => ann.close(1000)],
    ['a close without a code', (ann: Player) => ann.close()],
    ['a protocol error', (ann: Player) => ann.sendBytes(badFrame)],
    ['a message that is too big', (ann: Player) => ann.socket.send(new Uint8Array(2 ** 20 + 1))],
    ['a revocation', () => realtime.gateway.closeSessions(['s-ann'])],
  ])('[R-RET-1] after %s', async (_what, end) => {
    const { ann, bob } = await startInRoom()
    end(ann)
    expect(await bob.line()).toBe('v2 left 1 1:u-ann:ann:disconnected')
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(0)
  })

  test('[R-RET-1] for guests, outside rooms, and with a grace of 0', async () => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs } })
    const guest = await joinAs(realtime)
    const ann = await joinAs(realtime, 't-ann')
    guest.create('a')
    await guest.line()
    for (const client of [guest, ann]) client.end()
    await expect
      .poll(() => realtime.script.hooks().slice(-2).sort(), waiting)
      .toEqual(['leave 1', 'leave 2'])
    expect(await realtime.gateway.rooms()).toEqual([])
  })

  test.each([
    ['its session is revoked', () => realtime.gateway.closeSessions(['s-ann']), 'disconnected'],
    ['a script removes it', () => realtime.gateway.removeMember(1, 1), 'removed'],
  ])('[R-RET-6] any more once %s', async (_what, end, reason) => {
    const { ann, bob } = await startInRoom()
    ann.end()
    await bob.line()
    end()
    expect(await bob.line()).toBe(`v2 left 1 1:u-ann:ann:${reason}`)
    expect(realtime.script.hooks().slice(-2)).toEqual(['drop 1', 'leave 1'])
  })

  test('[R-RET-6, R-SES-3] when the life of its session is over', async () => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: 120_000 } })
    const { players } = realtime.backend
    const ann = players.get('t-ann')
    if (ann === undefined) throw new Error('ann has no session')
    const refresh_expires_at_unix_ms = realtime.clock.nowUnixMs() + 30_000
    players.set('t-ann', { ...ann, refresh_expires_at_unix_ms })
    const player = await joinAs(realtime, 't-ann')
    player.create('a')
    await player.line()
    player.end()
    await dropped()
    await realtime.clock.advance(29_000)
    expect(await realtime.gateway.rooms()).toHaveLength(1)
    await realtime.clock.advance(31_000)
    expect(await realtime.gateway.rooms()).toEqual([])
    expect(realtime.script.hooks().slice(-2)).toEqual(['drop 1', 'leave 1'])
  })

  test('[R-RET-6] when the node stops, and the room is closed as server_closed', async () => {
    const { ann } = await startInRoom()
    ann.end()
    await dropped()
    const closing = realtime.gateway.close()
    await realtime.clock.advance(20_000)
    await closing
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) server_closed')
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(0)
  })

  test('[R-RET-3] when more would be kept than a lane may hold', async () => {
    const limits = { reliable_queue_capacity: 3 }
    const { ann, bob } = await startInRoom({ rooms: { reconnect_grace_ms: graceMs }, limits })
    ann.end()
    await dropped()
    const send = () =>
      realtime.gateway.send({ kind: 100, body: bytesOf('x'), unreliable: false, participants: [1] })
    for (let count = 0; count < 3; count += 1) send()
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(1)
    send()
    expect(await bob.lines(2)).toEqual([
      'v2 dropped 1 1:u-ann:ann:dropped',
      'v2 left 1 1:u-ann:ann:disconnected',
    ])
  })

  test('[R-RET-3, R-BP-4] when all queues together hold too much and it holds most', async () => {
    const { ann, bob } = await startInRoom({
      rooms: { reconnect_grace_ms: graceMs },
      limits: { max_queued_bytes_total: 1000 },
    })
    ann.end()
    await bob.line()
    const body = new Uint8Array(300)
    const send = () =>
      realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [1] })
    for (let count = 0; count < 3; count += 1) send()
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(1)
    send()
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(0)
    expect(await bob.line()).toBe('v2 left 1 1:u-ann:ann:disconnected')
    expect(realtime.gateway.metrics().slow_consumer_closes_total).toBe(0)
  })

  test('[R-RET-5, R-RET-7] but a seat that is handed over ends no other', async () => {
    const { ann, bob } = await startInRoom({
      rooms: { reconnect_grace_ms: graceMs },
      limits: { max_connections: 3 },
    })
    for (const name of ['dan', 'eve']) realtime.backend.add(name)
    for (const name of ['cid', 'dan', 'eve']) {
      const other = await joinAs(realtime, `t-${name}`)
      other.create('a')
      await other.line()
      other.end()
      await bob.lines(2)
    }
    const young = playerOf(await realtime.join('t-ann'))
    expect(await ann.closed).toEqual({ code: 4005, reason: 'session replaced' })
    expect(await young.line()).toBe('joined 1 a/')
    expect(await bob.lines(2)).toEqual([
      'v2 dropped 1 1:u-ann:ann:dropped',
      'v2 returned 1 1:u-ann:ann',
    ])
    expect(realtime.gateway.metrics()).toMatchObject({
      dropped_seats_active: 3,
      seats_expired_total: 0,
    })
  })

  test('[R-RET-7] beyond max_connections the one that dropped first goes', async () => {
    const { ann, bob } = await startInRoom({
      rooms: { reconnect_grace_ms: graceMs },
      limits: { max_connections: 3 },
    })
    const others: Player[] = []
    for (const name of ['cid', 'dan', 'eve']) realtime.backend.add(name)
    ann.end()
    await bob.line()
    for (const name of ['cid', 'dan', 'eve']) {
      const other = await joinAs(realtime, `t-${name}`)
      other.create('a')
      await other.line()
      other.end()
      await bob.lines(2)
      others.push(other)
    }
    expect(await bob.line()).toBe('v2 left 1 1:u-ann:ann:disconnected')
    expect(realtime.gateway.metrics().dropped_seats_active).toBe(3)
  })
})

/** Of no length that a frame may have. */
const badFrame = new Uint8Array([0, 0, 0, 1])
