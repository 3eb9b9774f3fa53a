import { afterEach, describe, expect, test } from 'vitest'
import {
  bytesOf,
  nextPosition,
  type RealtimeFixture,
  startRealtime,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'
import { barrier, joinAll } from './rooms.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

describe('the end of members and rooms', () => {
  test('[R-CLS-3, R-MAT-1] the end of a connection leaves its room, behind on_leave', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2, 1)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    expect(await ann?.line()).toBe('v1 joined 1 2')
    bob?.close()
    expect(await ann?.line()).toBe('v1 left 1 2:disconnected')
    expect(realtime.script.hooks().at(-1)).toBe('leave 2')
    expect(realtime.script.matches().at(-1)).toBe('leave 1 2 (1)')
    expect(realtime.script.calls.at(-1)?.context).toMatchObject({ room_id: 1 })
  })

  test('[R-ROOM-11] a removed member gets MATCH_CLOSED, then its own left', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2, 1)
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
    expect(await realtime.gateway.rooms()).toEqual([])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) final_departure')
  })

  test('[H-OPS-5] [R-REC-4] an operator closes a room: nobody is asked to queue again', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2, 1)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    await ann?.line()
    const { gateway } = realtime
    expect(await gateway.endRoom(2)).toBe('unknown')
    expect(await gateway.endRoom(1)).toBe('done')
    expect(await ann?.lines(2)).toEqual(['closed 1 0 false', 'v1 left 1 1:removed'])
    expect(await bob?.lines(2)).toEqual(['closed 1 0 false', 'v1 left 1 2:removed'])
    expect(realtime.script.matches().at(-1)).toBe('ended 1 (0) server_closed')
    expect(await gateway.endRoom(1)).toBe('unknown')
    bob?.create('b')
    expect(await bob?.lines(1)).toEqual([expect.stringContaining('joined 2')])
  })

  test('[H-OPS-5] an operator removes a member, and hears whether there was one', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2, 1)
    ann?.create('a')
    await ann?.lines(2)
    bob?.create('a')
    await bob?.lines(2)
    const { gateway } = realtime
    expect(await gateway.expelMember(1, 77)).toBe('unknown')
    expect(await gateway.mayEnd(1, 77)).toBe('unknown')
    expect(await gateway.mayEnd(1, 2)).toBe('done')
    expect([await gateway.mayEnd(1), await gateway.mayEnd(2)]).toEqual(['done', 'unknown'])
    expect(await gateway.expelMember(2, 2)).toBe('unknown')
    expect(await gateway.expelMember(1, 2)).toBe('done')
    expect(await bob?.lines(2)).toEqual(['closed 1 0 false', 'v1 left 1 2:removed'])
    expect(await gateway.expelMember(1, 2)).toBe('unknown')
    expect(await gateway.expelMember(1, 1)).toBe('done')
    expect(await gateway.rooms()).toEqual([])
  })

  test('[R-REC-4] rooms bound to a lost worker are closed, and members stay connected', async () => {
    realtime = await startRealtime()
    realtime.script.boundTo = { revision_id: 'r', generation: 3 }
    const [ann, bob] = await joinAll(realtime, 2, 2)
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
    const [ann] = await joinAll(realtime, 1, 1)
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
    const [ann, bob, cid, dan] = await joinAll(realtime, 4)
    ann?.create('a')
    bob?.create('a')
    await bob?.line()
    bob?.send(1, bytesOf('p'))
    await ann?.line()
    if (ann === undefined || dan === undefined) throw new Error('nobody joined')
    expect(textOf((await nextPosition(realtime, ann)).body)).toMatch(/p$/)
    cid?.send(1, bytesOf('q'))
    expect(textOf((await nextPosition(realtime, dan)).body)).toMatch(/q$/)
    expect(ann.received).toEqual([])
  })

  test('[R-DSP-2] positions wait for nobody when all of a room have sent theirs', async () => {
    realtime = await startRealtime()
    const [ann, bob, cid] = await joinAll(realtime, 3)
    for (const player of [ann, bob, cid]) {
      player?.create('a')
      await player?.line()
    }
    await barrier(realtime, ann, bob, cid)
    ann?.send(1, bytesOf('a'))
    await barrier(realtime, ann)
    expect(cid?.received).toEqual([])
    bob?.send(1, bytesOf('b'))
    cid?.send(1, bytesOf('c'))
    for (const [player, expected] of [
      [ann, ['b', 'c']],
      [bob, ['a', 'c']],
      [cid, ['a', 'b']],
    ] as const) {
      const positions = [(await player?.next())?.body, (await player?.next())?.body]
      expect(positions.map((body) => textOf(body ?? bytesOf('')).at(-1))).toEqual(expected)
    }
  })

  test('[R-TOP-4, S-API-5] a broadcast reaches its room, its topic, or everybody', async () => {
    realtime = await startRealtime()
    const { gateway } = realtime
    const [ann, bob, cid] = await joinAll(realtime, 3)
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
    await joinAll(realtime, 1)
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
    const [ann, bob] = await joinAll(realtime, 2)
    ann?.enter({ mode: 'create', name: 'a', options: '' })
    expect(await ann?.line()).toBe('joined 1 a/')
    bob?.enter({ mode: 'create', name: 'a', options: '' })
    expect(await bob?.line()).toBe('rejected 48 room name taken')
    bob?.enter({ mode: 'join_or_create', name: 'a', options: '' })
    expect(await bob?.line()).toBe('joined 1 a/')
  })
})
