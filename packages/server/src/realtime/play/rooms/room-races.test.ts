import { encodeFrame, roomCreateBody, sessionOptionsBody } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import type { HookAnswer } from '../../../kernel/play/room-hooks.ts'
import { StreamsConnection } from '../../connection/transports/streams-connection.fixture.ts'
import { type RealtimeFixture, startRealtime, waiting } from '../../realtime.fixture.ts'
import {
  barrier,
  callMethod,
  flags,
  joinAll,
  joinAs,
  type Player,
  playerOf,
} from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const yes = { status: 'answered', value: true } as const

/** The first call of a hook waits for an answer; later ones get none. */
function heldOnce() {
  const answer = Promise.withResolvers<HookAnswer>()
  let asked = 0
  return {
    hook: () => {
      asked += 1
      return asked === 1 ? answer.promise : ({ status: 'absent' } as const)
    },
    answer: answer.resolve,
    wasAsked: () => expect.poll(() => asked, waiting).toBeGreaterThan(0),
  }
}

/** One member of the room `a`, and one who asks to join it and waits for the hook. */
async function startJoining(options: Parameters<typeof startRealtime>[0] = {}) {
  realtime = await startRealtime(options)
  const join = heldOnce()
  realtime.script.onRoomJoin = join.hook
  const ann = await joinAs(realtime, 't-ann')
  const bob = await joinAs(realtime, 't-bob')
  ann.create('a')
  await ann.line()
  bob.joinRoom(1)
  await join.wasAsked()
  return { ann, bob, join }
}

describe('while a join waits for the hook', () => {
  test('[R-ROOM-6, R-LIM-5] a leave behind it leaves the room that was joined', async () => {
    const { bob, join } = await startJoining()
    bob.leave()
    bob.joinRoom(1)
    bob.leave()
    await barrier(realtime, bob)
    join.answer(yes)
    expect(await bob.lines(4)).toEqual(['joined 1 a/', 'left 1', 'joined 1 a/', 'left 1'])
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 1 }])
    expect(realtime.script.matches().filter((line) => line.startsWith('leave 1 2')).length).toBe(2)
  })

  test.each([0, 10_000])(
    '[R-REV-1, R-ROOM-5] who is banned meanwhile joins nothing, with a grace of %i',
    async (reconnect_grace_ms) => {
      const { ann, bob, join } = await startJoining({ rooms: { reconnect_grace_ms } })
      realtime.backend.players.delete('t-bob')
      realtime.gateway.closeSessions(['s-bob'])
      expect(await bob.closed).toEqual({ code: 4004, reason: 'session revoked' })
      join.answer(yes)
      ann.leave()
      expect(await ann.line()).toBe('left 1')
      expect(await realtime.gateway.rooms()).toEqual([])
      expect(realtime.script.matches().filter((line) => line.includes(' 2 ('))).toEqual([])
      expect(realtime.gateway.metrics()).toMatchObject({ rooms_active: 0, dropped_seats_active: 0 })
    },
  )

  test('[R-ROOM-5, R-RPC-1] ten seconds hold up nothing else, not even of the same player', async () => {
    const { ann, bob, join } = await startJoining()
    const cid = await joinAs(realtime)
    await realtime.clock.advance(10_000)
    expect(await callMethod(bob, 'echo', { a: 1 })).toEqual({ a: 1 })
    cid.joinRoom(1)
    expect(await cid.line()).toBe('joined 1 a/')
    ann.leave()
    expect(await ann.line()).toBe('left 1')
    join.answer(yes)
    expect(await bob.line()).toBe('joined 1 a/')
    expect((await realtime.gateway.members(1)).map(({ participant }) => participant)).toEqual([
      2, 3,
    ])
  })

  test('[R-ROOM-5] the room may fill up, and may be closed', async () => {
    const { bob, join } = await startJoining()
    const cid = await joinAs(realtime)
    realtime.gateway.updateRoom(1, { max_players: 2 })
    cid.joinRoom(1)
    expect(await cid.line()).toBe('joined 1 a/')
    join.answer(yes)
    expect(await bob.line()).toBe('rejected 22 room is full')
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 2 }])
  })

  test('[R-REC-4] the worker may be lost, and no record stays open', async () => {
    realtime = await startRealtime()
    const { script, gateway } = realtime
    script.boundTo = { revision_id: 'r', generation: 1 }
    const [ann, bob, cid] = await joinAll(realtime, 3)
    ann?.create('a')
    await ann?.line()
    const join = heldOnce()
    const create = heldOnce()
    script.onRoomJoin = join.hook
    script.onRoomCreate = create.hook
    bob?.joinRoom(1)
    cid?.create('c')
    await Promise.all([join.wasAsked(), create.wasAsked()])
    gateway.closeBoundRooms(1)
    join.answer({ status: 'failed' })
    create.answer({ status: 'failed' })
    expect(await ann?.line()).toBe('closed 1 0 true')
    expect(await bob?.line()).toBe('rejected 22 join check failed')
    expect(await cid?.line()).toBe('rejected 21 room creation failed')
    expect(await gateway.rooms()).toEqual([])
    expect(script.matches().at(-1)).toBe('ended 1 (0) server_closed')
    cid?.create('c')
    expect(await cid?.line()).toBe('joined 2 c/')
  })
})

test('[R-ROOM-2, R-ROOM-4] a room may end while another one is being made, under its name too', async () => {
  realtime = await startRealtime()
  const [ann, bob] = await joinAll(realtime, 2)
  ann?.create('a')
  await ann?.line()
  const create = heldOnce()
  realtime.script.onRoomCreate = create.hook
  bob?.create('b')
  await create.wasAsked()
  ann?.leave()
  ann?.create('a')
  expect(await ann?.lines(2)).toEqual(['left 1', 'joined 2 a/'])
  ann?.create('b')
  await barrier(realtime, ann)
  create.answer({ status: 'absent' })
  expect(await bob?.line()).toBe('joined 3 b/')
  expect(await ann?.line()).toBe('joined 3 b/')
  expect(await realtime.gateway.rooms()).toMatchObject([{ name: 'b', players: 2 }])
  expect(realtime.script.matches().slice(-3)).toEqual([
    'leave 2 1 (0)',
    'ended 2 (0) final_departure',
    'join 3 1 (2)',
  ])
})

test('[R-GEN-7, R-BP-4] a room may lose its last member in the step that enters it', async () => {
  realtime = await startRealtime({ limits: { max_queued_bytes_total: 200 } })
  const [slow, watching] = [new StreamsConnection(), new StreamsConnection()]
  const enter = (name: string) => encodeFrame(21, roomCreateBody.encode({ name }))
  for (const peer of [slow, watching]) {
    peer.events = realtime.gateway.accept(peer)
    peer.events.received(0, encodeFrame(5, new Uint8Array()))
    await expect.poll(() => peer.kinds(), waiting).toEqual([6])
  }
  slow.events.received(0, enter('b'))
  await expect.poll(() => slow.kinds(), waiting).toContain(23)
  watching.events.received(0, encodeFrame(44, sessionOptionsBody.encode({ flags: flags[1] })))
  watching.events.received(0, enter('a'))
  await expect.poll(() => watching.kinds(), waiting).toContain(46)
  const [ann] = await joinAll(realtime, 1)
  ann?.create('a')
  expect(await ann?.line()).toBe('joined 2 a/')
  await expect.poll(() => watching.kinds().filter((kind) => kind === 46).length, waiting).toBe(2)
  slow.credit = 0
  watching.credit = 0
  const body = new Uint8Array(180)
  realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [1] })
  ann?.joinRoom(1)
  expect(await ann?.line()).toBe('rejected 22 room not found')
  expect(await realtime.gateway.rooms()).toMatchObject([{ name: 'a', players: 1 }])
})

test('[R-ROOM-5, R-ROOM-10] the 1,001st member of a room is refused', async () => {
  realtime = await startRealtime()
  const players = await joinAll(realtime, 1001)
  players[0]?.create('a')
  expect(await players[0]?.line()).toBe('joined 1 a/')
  for (const player of players.slice(1, 1000)) player.joinRoom(1)
  await expect.poll(async () => (await realtime.gateway.rooms())[0]?.players, waiting).toBe(1000)
  players[1000]?.joinRoom(1)
  expect(await players[1000]?.line()).toBe('rejected 22 room is full')
  players[7]?.leave()
  expect(await players[7]?.lines(2)).toEqual(['joined 1 a/', 'left 1'])
  players[1000]?.joinRoom(1)
  expect(await players[1000]?.line()).toBe('joined 1 a/')
  expect(await realtime.gateway.rooms()).toMatchObject([{ players: 1000 }])
})

describe('returns', () => {
  const graceMs = 10_000

  async function startDropped(): Promise<{ bob: Player }> {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: graceMs } })
    const ann = await joinAs(realtime, 't-ann')
    const bob = await joinAs(realtime, 't-bob')
    for (const player of [ann, bob]) player.create('a')
    await Promise.all([ann.line(), bob.line()])
    ann.end()
    const { metrics } = realtime.gateway
    await expect.poll(() => metrics().dropped_seats_active, waiting).toBe(1)
    return { bob }
  }
  const participants = async () =>
    (await realtime.gateway.members(1)).map(({ participant }) => participant)

  test.each([
    ['the last millisecond of the grace', graceMs - 1, [1, 2]],
    ['the first one behind it', graceMs, [2]],
  ])('[R-RET-4, R-RET-6] at %s', async (_when, afterMs, members) => {
    await startDropped()
    await realtime.clock.advance(afterMs)
    const again = await realtime.join('t-ann')
    await realtime.clock.advance(graceMs)
    expect(await participants()).toEqual(members)
    expect(realtime.gateway.metrics()).toMatchObject({
      dropped_seats_active: 0,
      seats_returned_total: members.length - 1,
      seats_expired_total: 2 - members.length,
    })
    again.end()
  })

  test('[R-RET-4, R-SES-1] of two at once with one session the newer has the seat', async () => {
    await startDropped()
    const pair = [await realtime.connect(), await realtime.connect()]
    for (const client of pair) client.send(5, 't-ann')
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(2)
    const codes = await Promise.race(pair.map(({ closed }) => closed))
    expect(codes).toEqual({ code: 4005, reason: 'session replaced' })
    expect(await participants()).toEqual([1, 2])
    await expect
      .poll(() => realtime.gateway.metrics(), waiting)
      .toMatchObject({ dropped_seats_active: 0, seats_expired_total: 0 })
  })

  test('[R-RET-4, R-SES-2] of two at once with two other sessions one has the seat, one is new', async () => {
    await startDropped()
    const first = realtime.backend.players.get('t-ann')
    if (first === undefined) throw new Error('ann has no session')
    for (const other of ['ann-2', 'ann-3']) {
      realtime.backend.players.set(`t-${other}`, { ...first, session_id: `s-${other}` })
      realtime.backend.live.add(`s-${other}`)
    }
    const pair = [await realtime.connect(), await realtime.connect()]
    pair[0]?.send(5, 't-ann-2')
    pair[1]?.send(5, 't-ann-3')
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(3)
    expect(await participants()).toEqual([1, 2])
    const inRoom = (await realtime.gateway.sessions()).filter(({ room_id }) => room_id === 1)
    expect(inRoom.map(({ user_id }) => user_id).sort()).toEqual(['u-ann', 'u-bob'])
    expect(realtime.gateway.metrics().seats_returned_total).toBe(1)
  })

  test('[R-RET-6, R-REV-1] after a ban there is no seat, and no way in', async () => {
    await startDropped()
    realtime.backend.players.delete('t-ann')
    realtime.gateway.closeSessions(['s-ann'])
    expect(await participants()).toEqual([2])
    const again = playerOf(await realtime.connect())
    again.send(5, 't-ann')
    expect(await again.closed).toEqual({ code: 4001, reason: 'auth rejected' })
    expect(await participants()).toEqual([2])
    expect(realtime.script.hooks().slice(-2)).toEqual(['drop 1', 'leave 1'])
  })
})
