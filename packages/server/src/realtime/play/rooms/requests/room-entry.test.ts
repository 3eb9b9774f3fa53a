import { roomCreateBody, roomEnterBody } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { type RealtimeFixture, startRealtime, waiting } from '../../../realtime.fixture.ts'
import { barrier, joinAll } from '../rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

describe('refusals', () => {
  test('[R-ROOM-10] every malformed body is refused by its shape', async () => {
    realtime = await startRealtime()
    const [ann] = await joinAll(realtime, 1)
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
    const [ann, bob] = await joinAll(realtime, 2)
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
    const [ann, bob] = await joinAll(realtime, 2)
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
    const [ann, bob] = await joinAll(realtime, 2)
    ann?.create('a')
    await ann?.line()
    bob?.joinRoom(1)
    await barrier(realtime, bob)
    ann?.leave()
    expect(await ann?.line()).toBe('left 1')
    answer.resolve({ status: 'answered', value: true })
    expect(await bob?.line()).toBe('rejected 22 room not found')
    expect(await realtime.gateway.rooms()).toEqual([])
  })

  test('[R-ROOM-10] on_room_create refuses, fails, or gives a label', async () => {
    realtime = await startRealtime({ rooms: { max_rooms: 2 } })
    const { script } = realtime
    const [ann, bob, cid] = await joinAll(realtime, 3)
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
    const failed = answers.filter(([, reason]) => reason === 'room creation failed')
    expect(script.misanswers).toHaveLength(failed.length)
    expect(new Map(script.misanswers.map(([hook, problem]) => [problem, hook]))).toEqual(
      new Map([
        ['refuse is no text of 1 to 128 bytes, or has other members beside it', 'on_room_create'],
        ['max_players of the label that it returned is not valid', 'on_room_create'],
        [
          'it returned a label with colour, and there are map, mode, max_players, open, tick, listed, properties',
          'on_room_create',
        ],
        ['map of the label that it returned is not valid', 'on_room_create'],
        ['mode of the label that it returned is not valid', 'on_room_create'],
        ['properties of the label that it returned is not valid', 'on_room_create'],
        ['it returned neither a label, a map, a refusal nor nothing', 'on_room_create'],
      ]),
    )
    script.onRoomCreate = () => ({ status: 'failed' })
    ann?.create('a')
    expect(await ann?.line()).toBe('rejected 21 room creation failed')
    expect(script.misanswers).toHaveLength(failed.length)
    script.onRoomCreate = () => ({ status: 'answered', value: { open: false, listed: true } })
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
    bob?.enter({ mode: 'create', name: '', options: '' })
    expect(await bob?.line()).toBe('joined 2 /')
    cid?.create('c')
    expect(await cid?.line()).toBe('rejected 21 too many rooms')
    expect(await realtime.gateway.rooms()).toMatchObject([
      { name: 'a', open: false, listed: true, map: 'a' },
      { name: null },
    ])
  })

  test('[S-STA-5] [S-VIEW-3] a state that is made with a label that is none is a failure', async () => {
    realtime = await startRealtime()
    const { script } = realtime
    const [ann] = await joinAll(realtime, 1)
    script.definesRoom = () => true
    const answers = [
      [{ colour: 'red' }, 'it returned a label with colour, and there are map, mode'],
      [{ refuse: 'closed' }, 'the label that it returned is no label'],
    ] as const
    for (const [label, problem] of answers) {
      script.stateCreate = async () => ({ status: 'answered', value: { label } })
      ann?.create('a')
      expect(await ann?.line()).toBe('rejected 21 room creation failed')
      expect(script.misanswers.pop()).toEqual(['state_create', expect.stringContaining(problem)])
    }
    script.stateCreate = async () => ({ status: 'failed' })
    ann?.create('a')
    expect(await ann?.line()).toBe('rejected 21 room creation failed')
    expect(script.misanswers).toEqual([])
  })

  test('[R-PRP-1] properties may hold 64-bit integers, and nest no deeper than 16', async () => {
    realtime = await startRealtime()
    const [ann] = await joinAll(realtime, 1)
    let deep: unknown[] = []
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    for (const value of [{ a: deep }, { a: 2n ** 60n, b: 'x'.repeat(1024) }]) {
      realtime.script.onRoomCreate = () => ({ status: 'answered', value: { properties: value } })
      ann?.create('a')
      expect(await ann?.line()).toBe('rejected 21 room creation failed')
    }
    expect(realtime.log.lines).toEqual([])
    const properties = { seed: 2n ** 60n }
    realtime.script.onRoomCreate = () => ({ status: 'answered', value: { properties } })
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
    expect(await realtime.gateway.rooms()).toMatchObject([{ properties }])
  })

  test('[R-ROOM-10] an error of the server refuses one request and ends nothing', async () => {
    realtime = await startRealtime()
    const { script, log } = realtime
    const [ann, bob] = await joinAll(realtime, 2)
    const broken = () => {
      throw new Error('broken')
    }
    script.onRoomCreate = broken
    script.onRoomJoin = broken
    ann?.create('a')
    expect(await ann?.line()).toBe('rejected 21 room creation failed')
    script.onRoomCreate = () => ({ status: 'absent' })
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
    bob?.joinRoom(1)
    expect(await bob?.line()).toBe('rejected 22 join check failed')
    script.onRoomJoin = () => ({ status: 'absent' })
    bob?.create('a')
    expect(await bob?.line()).toBe('joined 1 a/')
    expect(log.lines).toMatchObject([
      { level: 'error', message: 'a room request failed' },
      { level: 'error', message: 'a room request failed' },
    ])
  })

  test('[R-ROOM-10] also one outside the checks lets the next request run', async () => {
    realtime = await startRealtime()
    const { script, log } = realtime
    const [ann] = await joinAll(realtime, 1)
    const { admit } = script
    script.admit = () => {
      throw new Error('broken')
    }
    ann?.create('a')
    await expect.poll(() => log.lines.length, waiting).toBe(1)
    script.admit = admit
    ann?.create('a')
    expect(await ann?.line()).toBe('joined 1 a/')
  })

  test('[R-REC-6, R-ROOM-10] without its node id the node makes no room', async () => {
    let may = false
    realtime = await startRealtime({ mayMakeRooms: () => may })
    const [ann] = await joinAll(realtime, 1)
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
    const [ann] = await joinAll(realtime, 1)
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
    expect(await realtime.gateway.rooms()).toEqual([])
  })
})

function entering(options: string): Uint8Array {
  return roomEnterBody.encode({ mode: 'join_or_create', name: 'a', options })
}

function extended(enter: Parameters<typeof roomEnterBody.encode>[0]): Uint8Array {
  return Uint8Array.from([...roomEnterBody.encode(enter), 0])
}
