import { afterEach, describe, expect, test } from 'vitest'
import { type RealtimeFixture, startRealtime, waiting } from '../../realtime.fixture.ts'
import { barrier, joinAll } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

test('a room counts what its members send into it, and says since when it is open', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const [ann, bob, cid] = await joinAll(realtime, 3)
  ann?.create('a')
  bob?.create('a')
  cid?.create('b')
  expect([await ann?.line(), await bob?.line(), await cid?.line()]).toHaveLength(3)
  ann?.send(1, new Uint8Array([1]))
  ann?.send(100)
  bob?.send(100)
  cid?.send(100)
  await barrier(realtime, ann, bob, cid)
  const [one, other] = [await realtime.gateway.traffic(1), await realtime.gateway.traffic(2)]
  expect([one?.messages_total, other?.messages_total]).toEqual([3, 1])
  expect(one?.match_id).toBe((await realtime.gateway.room(1))?.match_id)
  expect(one?.opened_at_unix_ms).toBeGreaterThan(0)
  expect(await realtime.gateway.traffic(9)).toBeUndefined()
})

describe('making and joining', () => {
  test('[R-ROOM-4] a free name makes a room with the default label, a taken one joins it', async () => {
    realtime = await startRealtime()
    const [ann, bob, cid] = await joinAll(realtime, 3)
    ann?.create('lobby')
    expect(await ann?.line()).toBe('joined 1 lobby/')
    bob?.create('lobby')
    expect(await bob?.line()).toBe('joined 1 lobby/')
    cid?.create('')
    expect(await cid?.line()).toBe('joined 2 default/')
    expect(await realtime.gateway.rooms()).toMatchObject([
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
    const [ann, bob] = await joinAll(realtime, 2)
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
    const [ann, bob, cid] = await joinAll(realtime, 3)
    ann?.create('lobby')
    await expect.poll(() => asked, waiting).toBe(1)
    bob?.create('lobby')
    cid?.enter({ mode: 'create', name: 'lobby', options: '' })
    await barrier(realtime, bob, cid)
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
    const [ann, bob] = await joinAll(realtime, 2)
    ann?.create('lobby')
    await expect.poll(() => asked, waiting).toBe(1)
    bob?.create('lobby')
    ann?.end()
    await expect.poll(async () => (await realtime.gateway.sessions()).length, waiting).toBe(1)
    answer.resolve({ status: 'answered', value: 'arena' })
    expect(await bob?.line()).toBe('joined 1 lobby/')
    expect(await realtime.gateway.rooms()).toMatchObject([{ players: 1, map: 'lobby' }])
  })

  test('[R-ROOM-2, R-ROOM-6] a participant is in one room; the old one ends and frees its name', async () => {
    realtime = await startRealtime()
    const [ann] = await joinAll(realtime, 1)
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
    const [ann] = await joinAll(realtime, 1)
    ann?.create('a')
    ann?.joinRoom(1)
    ann?.create('a')
    expect(await ann?.lines(3)).toEqual(['joined 1 a/', 'joined 1 a/', 'joined 1 a/'])
    expect(realtime.script.matches().length).toBe(3)
  })

  test('[R-ROOM-8] only the leaver gets ROOM_LEAVE, whatever id it sent, and nothing outside', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2)
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
    const [ann] = await joinAll(realtime, 1)
    ann?.create('a')
    expect(await ann?.line()).toBe(`joined ${3 * 2 ** 40 + 1} a/`)
    expect((await realtime.gateway.rooms())[0]?.match_id).toMatch(/^mt1-[0-9a-f]{29}$/)
  })
})
