import { roomCreateBody, roomEnterBody } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { bytesOf, type RealtimeFixture, startRealtime, waiting } from '../realtime.fixture.ts'
import { joinAs, type Player } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

async function players(count: number, presence?: 1 | 2): Promise<Player[]> {
  const joined: Player[] = []
  for (let index = 0; index < count; index += 1) {
    joined.push(await joinAs(realtime, '', presence))
  }
  return joined
}

describe('making and joining', () => {
  test('[R-ROOM-4] a free name makes a room with the default label, a taken one joins it', async () => {
    realtime = await startRealtime()
    const [ann, bob, cid] = await players(3)
    ann?.create('lobby')
    expect(await ann?.line()).toBe('joined 1 lobby/')
    bob?.create('lobby')
    expect(await bob?.line()).toBe('joined 1 lobby/')
    cid?.create('')
    expect(await cid?.line()).toBe('joined 2 default/')
    expect(realtime.gateway.rooms()).toMatchObject([
      { room_id: 1, name: 'lobby', map: 'lobby', players: 2, max_players: 0, open: true },
      { room_id: 2, name: 'default', tick: true, listed: false, properties: {} },
    ])
    expect(realtime.gateway.metrics().rooms_active).toBe(2)
  })

  test('[R-ROOM-4] of two creators of one name the second waits and joins', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<{ status: 'answered'; value: unknown }>()
    let asked = 0
    realtime.script.onRoomCreate = () => {
      asked += 1
      return answer.promise
    }
    const [ann, bob] = await players(2)
    ann?.create('lobby')
    bob?.create('lobby')
    await expect.poll(() => asked, waiting).toBe(1)
    answer.resolve({ status: 'answered', value: { map: 'arena', mode: 'ffa', max_players: 2 } })
    expect([await ann?.line(), await bob?.line()]).toEqual([
      'joined 1 arena/ffa',
      'joined 1 arena/ffa',
    ])
    expect(asked).toBe(1)
  })

  test('[R-ROOM-4] when a creation is refused the first that waits tries to create', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<{ status: 'answered'; value: unknown }>()
    let asked = 0
    realtime.script.onRoomCreate = () => {
      asked += 1
      return asked === 1 ? answer.promise : { status: 'absent' }
    }
    const [ann, bob, cid] = await players(3)
    ann?.create('lobby')
    await expect.poll(() => asked, waiting).toBe(1)
    bob?.create('lobby')
    cid?.enter({ mode: 'create', name: 'lobby', options: '' })
    await barrier(bob, cid)
    answer.resolve({ status: 'answered', value: { refuse: 'not you' } })
    expect(await ann?.line()).toBe('rejected 21 not you')
    expect(await bob?.line()).toBe('joined 1 lobby/')
    expect(await cid?.line()).toBe('rejected 48 room name taken')
    expect(asked).toBe(2)
  })

  test('[R-ROOM-4] when the creator is gone the first that waits tries to create', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<{ status: 'answered'; value: unknown }>()
    let asked = 0
    realtime.script.onRoomCreate = () => {
      asked += 1
      return asked === 1 ? answer.promise : { status: 'absent' }
    }
    const [ann, bob] = await players(2)
    ann?.create('lobby')
    await expect.poll(() => asked, waiting).toBe(1)
    bob?.create('lobby')
    ann?.end()
    await expect.poll(() => realtime.gateway.sessions().length, waiting).toBe(1)
    answer.resolve({ status: 'answered', value: 'arena' })
    expect(await bob?.line()).toBe('joined 1 lobby/')
    expect(realtime.gateway.rooms()).toMatchObject([{ players: 1, map: 'lobby' }])
  })

  test('[R-ROOM-2, R-ROOM-6] a participant is in one room; the old one ends and frees its name', async () => {
    realtime = await startRealtime()
    const [ann] = await players(1)
    ann?.create('a')
    ann?.create('b')
    expect(await ann?.lines(2)).toEqual(['joined 1 a/', 'joined 2 b/'])
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 3 a/')
    expect(realtime.script.matches()).toEqual([
      'created 1 (0)',
      'started 1 (1)',
      'join 1 1 (1)',
      'leave 1 1 (0)',
      'ended 1 (0) final_departure',
      'created 2 (0)',
      'started 2 (1)',
      'join 2 1 (1)',
      'leave 2 1 (0)',
      'ended 2 (0) final_departure',
      'created 3 (0)',
      'started 3 (1)',
      'join 3 1 (1)',
    ])
  })

  test('[R-ROOM-7] joining the room one is in answers again and does nothing else', async () => {
    realtime = await startRealtime()
    const [ann] = await players(1)
    ann?.create('a')
    ann?.joinRoom(1)
    ann?.create('a')
    expect(await ann?.lines(3)).toEqual(['joined 1 a/', 'joined 1 a/', 'joined 1 a/'])
    expect(realtime.script.matches().length).toBe(3)
  })

  test('[R-ROOM-8] only the leaver gets ROOM_LEAVE, whatever id it sent, and nothing outside', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await players(2)
    ann?.create('a')
    await ann?.line()
    bob?.joinRoom(1)
    expect(await bob?.line()).toBe('joined 1 a/')
    bob?.send(24)
    expect(await bob?.line()).toBe('left 1')
    bob?.leave()
    bob?.create('a')
    expect(await bob?.line()).toBe('joined 1 a/')
    expect(ann?.received).toEqual([])
  })

  test('[R-GEN-4, R-GEN-5] rooms count from 1 and matches have durable ids', async () => {
    realtime = await startRealtime({ nodeSlot: 3 })
    const [ann] = await players(1)
    ann?.create('a')
    expect(await ann?.line()).toBe(`joined ${3 * 2 ** 40 + 1} a/`)
    expect(realtime.gateway.rooms()[0]?.match_id).toMatch(/^mt1-[0-9a-f]{29}$/)
  })
})

describe('refusals', () => {
  test('[R-ROOM-10] every malformed body is refused by its shape', async () => {
    realtime = await startRealtime()
    const [ann] = await players(1)
    const requests: [number, Uint8Array, string][] = [
      [21, new Uint8Array(0), 'malformed request'],
      [21, new Uint8Array([0]), 'malformed request'],
      [21, new Uint8Array([0, 2, 0xff, 0xff]), 'malformed request'],
      [21, roomCreateBody.encode({ name: 'x'.repeat(129) }), 'invalid room name'],
      [21, roomCreateBody.encode({ name: 'a\u0000' }), 'invalid room name'],
      [21, roomCreateBody.encode({ name: 'a\u007f' }), 'invalid room name'],
      [22, new Uint8Array(0), 'malformed request'],
      [22, new Uint8Array(7), 'malformed request'],
      [22, new Uint8Array(9), 'room not found'],
      [22, new Uint8Array(8).fill(255), 'room not found'],
      [48, new Uint8Array([2, 0]), 'malformed request'],
      [48, new Uint8Array([1, 3, 0, 0, 0, 0]), 'malformed request'],
      [48, extended({ mode: 'create', name: 'a', options: '' }), 'malformed request'],
      [48, entering('{"a":1'), 'invalid room options'],
      [48, entering('[]'), 'invalid room options'],
      [48, entering(`{"a":"${'x'.repeat(1017)}"}`), 'invalid room options'],
      [48, entering(`{"a":${'['.repeat(16)}${']'.repeat(16)}}`), 'invalid room options'],
    ]
    for (const [kind, body, reason] of requests) {
      ann?.send(kind, body)
      expect(await ann?.line()).toBe(`rejected ${kind} ${reason}`)
    }
    expect(realtime.gateway.metrics().room_rejects_total).toBe(requests.length)
    ann?.send(48, entering(`{"a":"${'x'.repeat(1016)}"}`))
    ann?.send(48, entering(`{"a":${'['.repeat(15)}${']'.repeat(15)}}`))
    expect(await ann?.lines(2)).toEqual(['joined 1 a/', 'joined 1 a/'])
  })

  test('[R-ROOM-5] checks run in order: gate, exists, binding, open, full, hook', async () => {
    realtime = await startRealtime({ rooms: { max_members: 1 } })
    const { script, gateway } = realtime
    script.boundTo = { revision_id: 'r', generation: 1 }
    const [ann, bob] = await players(2)
    ann?.create('a')
    await ann?.line()
    gateway.updateRoom(1, { open: false })
    script.onRoomJoin = () => ({ status: 'answered', value: 'no' })
    const refused = async (reason: string) => {
      bob?.joinRoom(1)
      expect(await bob?.line()).toBe(`rejected 22 ${reason}`)
    }
    script.isGateOpen = false
    await refused('game script unavailable')
    script.isGateOpen = true
    script.boundTo = { revision_id: 's', generation: 2 }
    await refused('room revision changed')
    script.boundTo = { revision_id: 'r', generation: 1 }
    await refused('room is closed')
    gateway.updateRoom(1, { open: true })
    await refused('room is full')
    await realtime.close()
  })

  test('[R-ROOM-5] the hook decides, and what it says is checked', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    const [ann, bob] = await players(2)
    ann?.create('a')
    await ann?.line()
    const answers: [unknown, string][] = [
      [false, 'join refused'],
      [null, 'join refused'],
      [undefined, 'join refused'],
      ['too weak', 'too weak'],
      ['', 'join check failed'],
      ['x'.repeat(129), 'join check failed'],
      [1, 'join check failed'],
      [{}, 'join check failed'],
    ]
    for (const [value, reason] of answers) {
      script.onRoomJoin = () => ({ status: 'answered', value })
      bob?.joinRoom(1)
      expect(await bob?.line()).toBe(`rejected 22 ${reason}`)
    }
    script.onRoomJoin = () => ({ status: 'failed' })
    bob?.joinRoom(1)
    expect(await bob?.line()).toBe('rejected 22 join check failed')
    script.onRoomJoin = ({ room, options }) => {
      expect({ id: room.room_id, players: room.players, options }).toEqual({
        id: 1,
        players: 1,
        options: '{"team":1}',
      })
      return { status: 'answered', value: true }
    }
    bob?.enter({ mode: 'join', room_id: 1, options: '{"team":1}' })
    expect(await bob?.line()).toBe('joined 1 a/')
  })

  test('[R-ROOM-5] what changed while the hook ran is checked again', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<{ status: 'answered'; value: unknown }>()
    realtime.script.onRoomJoin = () => answer.promise
    const [ann, bob] = await players(2)
    ann?.create('a')
    await ann?.line()
    bob?.joinRoom(1)
    await barrier(bob)
    ann?.leave()
    expect(await ann?.line()).toBe('left 1')
    answer.resolve({ status: 'answered', value: true })
    expect(await bob?.line()).toBe('rejected 22 room not found')
    expect(realtime.gateway.rooms()).toEqual([])
  })

  test('[R-ROOM-10] on_room_create refuses, fails, or gives a label', async () => {
    realtime = await startRealtime({ rooms: { max_rooms: 2 } })
    const { script } = realtime
    const [ann, bob, cid] = await players(3)
    const answers: [unknown, string][] = [
      [false, 'room creation refused'],
      [{ refuse: 'closed today' }, 'closed today'],
      [{ refuse: 'x', map: 'y' }, 'room creation failed'],
      [{ refuse: '' }, 'room creation failed'],
      [{ max_players: 131_072 }, 'room creation failed'],
      [{ max_players: 1.5 }, 'room creation failed'],
      [{ max_players: null }, 'room creation failed'],
      [{ colour: 'red' }, 'room creation failed'],
      [{ map: 'x'.repeat(129) }, 'room creation failed'],
      [{ mode: 'a\nb' }, 'room creation failed'],
      [{ properties: [] }, 'room creation failed'],
      [{ properties: { a: 'x'.repeat(1020) } }, 'room creation failed'],
      [7, 'room creation failed'],
    ]
    for (const [value, reason] of answers) {
      script.onRoomCreate = () => ({ status: 'answered', value })
      ann?.create('a')
      expect(await ann?.line()).toBe(`rejected 21 ${reason}`)
    }
    script.onRoomCreate = () => ({ status: 'failed' })
    ann?.create('a')
    expect(await ann?.line()).toBe('rejected 21 room creation failed')
    script.onRoomCreate = () => ({ status: 'answered', value: { open: false, listed: true } })
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
    bob?.enter({ mode: 'create', name: '', options: '' })
    expect(await bob?.line()).toBe('joined 2 /')
    cid?.create('c')
    expect(await cid?.line()).toBe('rejected 21 too many rooms')
    expect(realtime.gateway.rooms()).toMatchObject([
      { name: 'a', open: false, listed: true, map: 'a' },
      { name: null },
    ])
  })

  test('[R-REC-6, R-ROOM-10] without its node id the node makes no room', async () => {
    let may = false
    realtime = await startRealtime({ mayMakeRooms: () => may })
    const [ann] = await players(1)
    ann?.create('a')
    expect(await ann?.line()).toBe('rejected 21 room temporarily unavailable')
    may = true
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
  })

  test('[R-LIM-5] four requests wait, one more is refused, a leave never', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<{ status: 'absent' }>()
    realtime.script.onRoomCreate = () => answer.promise
    const [ann] = await players(1)
    ann?.create('a')
    ann?.leave()
    for (const name of ['b', 'c', 'd', 'e', 'f']) ann?.create(name)
    ann?.leave()
    expect(await ann?.line()).toBe('rejected 21 too many requests')
    answer.resolve({ status: 'absent' })
    expect(await ann?.lines(7)).toEqual([
      'joined 1 a/',
      'left 1',
      'joined 2 b/',
      'joined 3 c/',
      'joined 4 d/',
      'joined 5 e/',
      'left 5',
    ])
    expect(realtime.gateway.rooms()).toEqual([])
  })
})

describe('the end of members and rooms', () => {
  test('[R-CLS-3, R-MAT-1] the end of a connection leaves its room, behind on_leave', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await players(2, 1)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    expect(await ann?.line()).toBe('v1 joined 1 2')
    bob?.socket.close()
    expect(await ann?.line()).toBe('v1 left 1 2:disconnected')
    expect(realtime.script.hooks().at(-1)).toBe('leave 2')
    expect(realtime.script.matches().at(-1)).toBe('leave 1 2 (1)')
    expect(realtime.script.calls.at(-1)?.context).toMatchObject({ room_id: 1 })
  })

  test('[R-ROOM-11] a removed member gets MATCH_CLOSED, then its own left', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await players(2, 1)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    realtime.gateway.removeMember(1, 2)
    expect(await bob?.lines(2)).toEqual(['closed 1 0 false', 'v1 left 1 2:removed'])
    expect(await ann?.lines(2)).toEqual(['v1 joined 1 2', 'v1 left 1 2:removed'])
    realtime.gateway.removeMember(1, 77)
    realtime.gateway.removeMember(2, 1)
    realtime.gateway.removeMember(1, 1)
    expect(realtime.gateway.rooms()).toEqual([])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) final_departure')
  })

  test('[R-REC-4] rooms bound to a lost worker are closed, and members stay connected', async () => {
    realtime = await startRealtime()
    realtime.script.boundTo = { revision_id: 'r', generation: 3 }
    const [ann, bob] = await players(2, 2)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    await ann?.line()
    realtime.gateway.closeBoundRooms(2)
    realtime.gateway.closeBoundRooms(3)
    expect(await ann?.lines(2)).toEqual(['closed 1 0 true', 'v2 left 1 1:removed'])
    expect(await bob?.lines(2)).toEqual(['closed 1 0 true', 'v2 left 1 2:removed'])
    expect(realtime.script.matches().slice(-3)).toEqual([
      'leave 1 1 (1)',
      'leave 1 2 (0)',
      'ended 1 (0) server_closed',
    ])
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 2 a/')
  })

  test('[R-CLS-4] at a shutdown every room is closed before the connections', async () => {
    realtime = await startRealtime()
    const [ann] = await players(1, 1)
    ann?.create('a')
    await ann?.lines(2)
    const closing = realtime.gateway.close()
    expect(await ann?.lines(2)).toEqual(['closed 1 0 true', 'v1 left 1 1:removed'])
    expect(await ann?.closed).toEqual({ code: 1001, reason: 'shutdown' })
    await closing
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) server_closed')
    expect(realtime.gateway.metrics().rooms_active).toBe(0)
  })

  test('[R-DSP-2] positions stay in the room of their sender', async () => {
    realtime = await startRealtime()
    const [ann, bob, cid, dan] = await players(4)
    ann?.create('a')
    bob?.create('a')
    await bob?.line()
    bob?.send(1, bytesOf('p'))
    await ann?.line()
    expect(await ann?.line()).toMatch(/^kind 2 .*p$/)
    cid?.send(1, bytesOf('q'))
    expect(await dan?.line()).toMatch(/^kind 2 .*q$/)
    expect(ann?.received).toEqual([])
  })

  test('[R-TOP-4, S-API-5] a broadcast reaches its room, its topic, or everybody', async () => {
    realtime = await startRealtime()
    const { gateway } = realtime
    const [ann, bob, cid] = await players(3)
    ann?.create('a')
    bob?.create('a')
    await Promise.all([ann?.line(), bob?.line()])
    const said = { kind: 100, unreliable: false, except: [], sender: 1 }
    gateway.joinTopic('t', 1)
    gateway.joinTopic('t', 3)
    gateway.broadcast({ ...said, body: bytesOf('room'), room_id: 1 })
    gateway.broadcast({ ...said, body: bytesOf('topic'), room_id: null, topic: 't' })
    gateway.broadcast({ ...said, body: bytesOf('all'), room_id: null, except: [2] })
    gateway.broadcast({ ...said, body: bytesOf('none'), room_id: 9 })
    gateway.broadcast({ ...said, body: bytesOf('none'), room_id: null, topic: 'u' })
    gateway.leaveTopic('t', 3)
    gateway.broadcast({ ...said, sender: 0, body: bytesOf('last'), room_id: null, topic: 't' })
    expect(await bob?.line()).toBe('kind 100 room')
    expect(await cid?.lines(2)).toEqual(['kind 100 topic', 'kind 100 all'])
    expect(await ann?.line()).toBe('kind 100 last')
    expect(gateway.metrics()).toMatchObject({ topics_active: 1, topic_memberships_active: 1 })
    ann?.end()
    await expect.poll(() => gateway.metrics().topic_memberships_active, waiting).toBe(0)
    expect(gateway.metrics().topics_active).toBe(0)
  })

  test('[R-TOP-2] a participant is in at most 64 topics', async () => {
    realtime = await startRealtime()
    await players(1)
    for (let index = 0; index < 66; index += 1) realtime.gateway.joinTopic(`t${index}`, 1)
    realtime.gateway.joinTopic('t0', 1)
    expect(realtime.gateway.metrics()).toMatchObject({
      topics_active: 64,
      topic_memberships_active: 64,
      topic_refused_total: 2,
    })
  })

  test('[R-ENT-1] a create in mode 2 needs a free name', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await players(2)
    ann?.enter({ mode: 'create', name: 'a', options: '' })
    expect(await ann?.line()).toBe('joined 1 a/')
    bob?.enter({ mode: 'create', name: 'a', options: '' })
    expect(await bob?.line()).toBe('rejected 48 room name taken')
    bob?.enter({ mode: 'join_or_create', name: 'a', options: '' })
    expect(await bob?.line()).toBe('joined 1 a/')
  })
})

/** Resolves when everything these clients have sent before was dispatched. */
async function barrier(...clients: (Player | undefined)[]): Promise<void> {
  for (const client of clients) client?.send(36)
  const expected = realtime.gateway.metrics().decode_errors_total + clients.length
  await expect.poll(() => realtime.gateway.metrics().decode_errors_total, waiting).toBe(expected)
}

function entering(options: string): Uint8Array {
  return roomEnterBody.encode({ mode: 'join_or_create', name: 'a', options })
}

function extended(enter: Parameters<typeof roomEnterBody.encode>[0]): Uint8Array {
  return Uint8Array.from([...roomEnterBody.encode(enter), 0])
}
