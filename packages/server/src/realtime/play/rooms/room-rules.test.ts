import {
  kinds,
  roomEnterBody,
  rpcRequestBody,
  rpcResponseBody,
  type SessionInfo,
  sessionInfoBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import type { HookAnswer } from '../../../kernel/play/room-hooks.ts'
import { closings, type ProtocolDetail, protocolError } from '../../connection/closing/closings.ts'
import {
  bytesOf,
  type RealtimeFixture,
  startRealtime,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'
import { barrier, callMethod, joinAll, joinAs, type Player } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

/** Players in one room, all of whose lines so far were read. */
async function inRoom(players: readonly (Player | undefined)[]): Promise<void> {
  for (const player of players) {
    player?.create('a')
    expect(await player?.line()).toBe('joined 1 a/')
  }
}

describe('rooms', () => {
  test('[R-ROOM-1] a room has id, name, label, members, binding and match', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    script.boundTo = { revision_id: 'sha256:r', generation: 3 }
    const label = {
      map: 'm'.repeat(128),
      mode: 'o'.repeat(128),
      max_players: 65_535,
      open: false,
      tick: false,
      listed: true,
      properties: { level: 3 },
    }
    script.onRoomCreate = () => ({ status: 'answered', value: label })
    const [ann] = await joinAll(realtime, 1)
    ann?.create('den')
    await ann?.line()
    expect(await realtime.gateway.rooms()).toEqual([
      {
        room_id: 1,
        match_id: expect.stringMatching(/^mt1-/),
        name: 'den',
        ...label,
        players: 1,
        binding: { revision_id: 'sha256:r', generation: 3 },
      },
    ])
  })

  test('[R-ROOM-3] guests make and join rooms, and see no room that no script has listed', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2)
    await inRoom([ann, bob])
    const list = async () => {
      if (bob === undefined) throw new Error('nobody is there')
      return ((await callMethod(bob, 'rooms.list', {})) as { rooms: unknown[] }).rooms
    }
    expect(await list()).toEqual([])
    realtime.gateway.updateRoom(1, { listed: true })
    expect(await list()).toMatchObject([{ id: 1, players: 2 }])
  })

  test('[R-ROOM-9] the creator is not asked by on_room_join', async () => {
    realtime = await startRealtime()
    let asked = 0
    realtime.script.onRoomJoin = () => {
      asked += 1
      return { status: 'answered', value: true }
    }
    const [ann, bob] = await joinAll(realtime, 2)
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
    expect(asked).toBe(0)
    bob?.create('a')
    expect(await bob?.line()).toBe('joined 1 a/')
    expect(asked).toBe(1)
  })

  test('[R-ROOM-12] an envelope belongs to the room its sender is in when it is dispatched', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    script.kinds.add(100)
    const [ann, bob] = await joinAll(realtime, 2)
    ann?.create('a')
    bob?.create('b')
    await Promise.all([ann?.line(), bob?.line()])
    const answer = Promise.withResolvers<HookAnswer>()
    script.onRoomJoin = () => answer.promise
    ann?.joinRoom(2)
    ann?.send(100, 'behind the request')
    await expect.poll(() => script.hooks(), waiting).toContain('message 1')
    answer.resolve({ status: 'answered', value: true })
    expect(await ann?.line()).toBe('joined 2 b/')
    ann?.send(100, 'behind ROOM_JOINED')
    await expect.poll(() => messages(), waiting).toHaveLength(2)
    expect(messages()).toEqual([
      ['behind the request', 1],
      ['behind ROOM_JOINED', 2],
    ])

    function messages() {
      return script.calls.flatMap((call) =>
        call.hook === 'message' ? [[textOf(call.body), call.context.room_id]] : [],
      )
    }
  })

  test('[R-PRS-2] who did not ask hears of nobody; an own left comes before ROOM_LEAVE', async () => {
    realtime = await startRealtime()
    const ann = await joinAs(realtime)
    const bob = await joinAs(realtime, '', 1)
    ann.create('a')
    expect(await ann.line()).toBe('joined 1 a/')
    bob.create('a')
    await bob.lines(2)
    bob.leave()
    expect(await bob.lines(2)).toEqual(['v1 left 1 2:left', 'left 1'])
    ann.leave()
    expect(await ann.lines(1)).toEqual(['left 1'])
  })

  const ends: readonly [cause: string, end: (bob: Player) => unknown][] = [
    ['a leave', (bob) => bob.leave()],
    ['a move', (bob) => bob.create('b')],
    ['a removal', () => realtime.gateway.removeMember(1, 1)],
    ['a lost connection', (bob) => bob.end()],
    ['a revocation', () => realtime.gateway.closeSessions(['s-bob'])],
    ['a replacement', () => realtime.join('t-bob')],
    ['a protocol error', (bob) => bob.sendBytes(new Uint8Array([0, 0, 0, 1]))],
    ['silence', (bob) => silence(bob)],
    ['a peer that does not read', () => flood()],
  ]
  test.each(ends)('[R-REC-3] the last member may be gone by %s', async (_cause, end) => {
    realtime = await startRealtime()
    const bob = await joinAs(realtime, 't-bob')
    await inRoom([bob])
    await end(bob)
    const ended = () => realtime.script.matches().filter((line) => line.startsWith('ended 1'))
    await expect.poll(ended, waiting).toEqual(['ended 1 (0) final_departure'])
  })

  function silence(bob: Player): Promise<void> {
    bob.pause()
    return realtime.clock.advance(60_000)
  }

  function flood(): void {
    const body = new Uint8Array(2 ** 22)
    const send = { kind: 100, body, unreliable: false, participants: [1] }
    for (let count = 0; count < 4; count += 1) realtime.gateway.send(send)
  }
})

describe('options of ROOM_ENTER', () => {
  const enter = (options: string, name = 'a') =>
    ({ mode: 'join_or_create', name, options }) as const

  test('[R-ENT-2] none is {}, the last of a repeated member counts, bad ones come before the gate', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    const seen: string[] = []
    script.onRoomCreate = ({ options }) => {
      seen.push(options)
      return { status: 'answered', value: false }
    }
    const [ann] = await joinAll(realtime, 1)
    for (const options of ['', '{"a":1,"a":2}']) {
      ann?.enter(enter(options))
      expect(await ann?.line()).toBe('rejected 48 room creation refused')
    }
    expect(seen.map((text) => JSON.parse(text))).toEqual([{}, { a: 2 }])
    script.isGateOpen = false
    for (const options of ['null', '1', '"x"', '[]', '{', `{"a":"${'x'.repeat(1017)}"}`]) {
      ann?.enter(enter(options))
      expect(await ann?.line()).toBe('rejected 48 invalid room options')
    }
    ann?.enter(enter('{}'))
    expect(await ann?.line()).toBe('rejected 48 game script unavailable')
    expect(seen).toHaveLength(2)
  })

  test('[R-ENT-3] both hooks get them, older kinds give {}, and nobody keeps them', async () => {
    realtime = await startRealtime()
    const { script, gateway, log } = realtime
    const seen: string[] = []
    script.onRoomCreate = ({ options }) => {
      seen.push(`create ${options}`)
      return { status: 'absent' }
    }
    script.onRoomJoin = ({ options }) => {
      seen.push(`join ${options}`)
      return { status: 'answered', value: true }
    }
    const [ann, bob, cid] = await joinAll(realtime, 3)
    ann?.enter(enter('{"password":"hidden"}'))
    await ann?.line()
    bob?.enter({ mode: 'join', room_id: 1, options: '{"password":"hidden"}' })
    await bob?.line()
    cid?.joinRoom(1)
    await cid?.line()
    cid?.create('c')
    await cid?.line()
    expect(seen).toEqual([
      'create {"password":"hidden"}',
      'join {"password":"hidden"}',
      'join {}',
      'create {}',
    ])
    const kept = [await gateway.rooms(), await gateway.members(1), script.matchEvents, log.lines]
    expect(JSON.stringify(kept)).not.toContain('hidden')
  })

  test('[R-ENT-4] all else is as for the older kinds: order, waiting, a repeated join', async () => {
    realtime = await startRealtime()
    const answer = Promise.withResolvers<HookAnswer>()
    const [ann, bob] = await joinAll(realtime, 2)
    await inRoom([ann])
    ann?.enter({ mode: 'join', room_id: 1, options: '' })
    expect(await ann?.line()).toBe('joined 1 a/')
    realtime.script.onRoomJoin = () => answer.promise
    bob?.enter({ mode: 'join', room_id: 9, options: '' })
    expect(await bob?.line()).toBe('rejected 48 room not found')
    for (let count = 0; count < 6; count += 1) bob?.enter({ mode: 'join', room_id: 1, options: '' })
    expect(await bob?.line()).toBe('rejected 48 too many requests')
    answer.resolve({ status: 'answered', value: true })
    expect(await bob?.lines(5)).toEqual(Array.from({ length: 5 }, () => 'joined 1 a/'))
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 2 }])
  })
})

describe('topics', () => {
  const to = (topic: string) =>
    realtime.gateway.broadcast({
      kind: 100,
      body: bytesOf('hi'),
      unreliable: false,
      sender: 0,
      except: [],
      room_id: null,
      topic,
    })

  test('[R-TOP-1] a topic is there while somebody is in it, and its name goes to nobody', async () => {
    realtime = await startRealtime()
    const { gateway } = realtime
    const [ann] = await joinAll(realtime, 1)
    gateway.joinTopic('secret name', 1)
    expect(gateway.metrics().topics_active).toBe(1)
    to('secret name')
    expect(await ann?.line()).toBe('kind 100 hi')
    gateway.leaveTopic('secret name', 1)
    to('secret name')
    gateway.joinTopic('secret name', 99)
    expect(gateway.metrics()).toMatchObject({ topics_active: 0, topic_memberships_active: 0 })
    await barrier(realtime, ann)
    expect(ann?.received).toEqual([])
  })

  test('[R-TOP-3] rooms and a lost worker leave it alone, the end of the participant does not', async () => {
    realtime = await startRealtime({ rooms: { reconnect_grace_ms: 10_000 } })
    const { gateway, script, clock } = realtime
    script.boundTo = { revision_id: 'r', generation: 1 }
    const ann = await joinAs(realtime, 't-ann')
    gateway.joinTopic('t', 1)
    await inRoom([ann])
    ann.create('b')
    await ann.line()
    gateway.closeBoundRooms(1)
    await ann.line()
    ann.create('c')
    expect(await ann.line()).toBe('joined 3 c/')
    to('t')
    expect(await ann.line()).toBe('kind 100 hi')
    ann.end()
    await expect.poll(() => gateway.metrics().dropped_seats_active, waiting).toBe(1)
    expect(gateway.metrics().topic_memberships_active).toBe(1)
    await clock.advance(10_000)
    expect(gateway.metrics()).toMatchObject({ topics_active: 0, topic_memberships_active: 0 })
  })
})

describe('the service as a whole', () => {
  test('[R-GEN-7] nothing reliable is refused without an answer', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    const [ann] = await joinAll(realtime, 1)
    const options = (flags: number) => sessionOptionsBody.encode({ flags })
    ann?.send(kinds.SESSION_OPTIONS.first, options(4))
    expect(await ann?.line()).toBe('info')
    script.isServing = false
    ann?.joinRoom(7)
    expect(await ann?.line()).toBe('rejected 22 room not found')
    ann?.send(
      kinds.ROOM_ENTER.first,
      roomEnterBody.encode({ mode: 'join', room_id: 7, options: '' }),
    )
    expect(await ann?.line()).toBe('rejected 48 room not found')
    const request = { request_id: 5n, method: 'party.none', payload: bytesOf('{}') }
    ann?.send(kinds.RPC_REQUEST.first, rpcRequestBody.encode(request))
    const response = await ann?.next()
    expect(rpcResponseBody.decode(response?.body ?? new Uint8Array())).toMatchObject({ ok: false })
    for (const kind of [7, 2, 100, kinds.SESSION_OPTIONS.first]) ann?.send(kind)
    for (let count = 0; count < 4; count += 1) {
      expect((await ann?.next())?.kind).toBe(kinds.NOTICE.first)
    }
    ann?.sendBytes(new Uint8Array(4))
    expect(await ann?.closed).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  })

  test('[R-RPC-3] built-in names never reach a script; all others do, in rooms and for guests', async () => {
    realtime = await startRealtime()
    const [guest] = await joinAll(realtime, 1)
    if (guest === undefined) throw new Error('nobody joined')
    for (const method of ['matchmaker.x', 'party.x', 'rooms.x', 'rooms.']) {
      expect(await callMethod(guest, method, {})).toBe('unknown RPC method')
    }
    expect(realtime.script.hooks()).toEqual(['join 1'])
    expect(await callMethod(guest, 'roomsx', { a: 1 })).toEqual({ a: 1 })
    await inRoom([guest])
    expect(await callMethod(guest, 'party', { b: 2 })).toEqual({ b: 2 })
    expect(realtime.script.hooks()).toEqual(['join 1', 'rpc 1', 'rpc 1'])
  })

  test('[R-CLS-1] codes are those of applications or of WebSocket, and reasons fit a close frame', async () => {
    realtime = await startRealtime()
    const details: ProtocolDetail[] = [
      'frame length',
      'incomplete frame',
      'text message',
      'repeated auth',
      'handshake',
      'rpc header',
    ]
    const all = [...Object.values(closings), ...details.map(protocolError)]
    expect(all.map(({ code, reason }) => `${code} ${reason}`)).toEqual([
      '1001 shutdown',
      '1009 message too big',
      '4001 auth rejected',
      '4002 auth timeout',
      '4004 session revoked',
      '4005 session replaced',
      '4006 liveness timeout',
      '4008 slow consumer',
      ...details.map((detail) => `4003 protocol error: ${detail}`),
    ])
    for (const { reason } of all) expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
    const [ann] = await joinAll(realtime, 1)
    ann?.send(kinds.AUTH.first)
    expect(await ann?.closed).toEqual({ code: 4003, reason: 'protocol error: repeated auth' })
  })

  test('[R-HS-7] a reconnect without a grace is a new participant, in no room and no topic', async () => {
    realtime = await startRealtime()
    const { gateway } = realtime
    const ann = await joinAs(realtime, 't-ann')
    await inRoom([ann])
    gateway.joinTopic('t', 1)
    ann.end()
    await expect.poll(() => gateway.sessions(), waiting).toEqual([])
    const again = await realtime.join('t-ann')
    again.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
    const info: SessionInfo = sessionInfoBody.decode((await again.next()).body)
    expect(info).toMatchObject({ participant: 2, room_id: null })
    expect(await gateway.rooms()).toEqual([])
    expect(gateway.metrics().topic_memberships_active).toBe(0)
  })

  test('[S-HK-5] on_join and on_leave run for guests too', async () => {
    realtime = await startRealtime()
    const [guest] = await joinAll(realtime, 1)
    guest?.end()
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['join 1', 'leave 1'])
    expect(realtime.script.calls[1]?.context.user_id).toBeNull()
  })
})
