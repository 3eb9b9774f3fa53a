import { kinds, type RoomPresence, roomPresenceBody, sessionOptionsBody } from '@guildhall/contract'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { type RealtimeFixture, startRealtime } from '../../realtime.fixture.ts'
import { newParticipant, noReceiver, type Participant } from '../participants/participant.ts'
import { sendNotice, sendOwnLeft } from './presence.ts'
import { defaultLabel } from './requests/label-answers.ts'
import { Room } from './room.ts'
import { flags, joinAll } from './rooms.fixture.ts'
import { createSnapshots } from './snapshots.ts'

describe('asked for by options', () => {
  let realtime: RealtimeFixture
  afterEach(() => realtime.close())

  test('[R-KND-7] sooner than in a second is answered at once, and by one snapshot after it', async () => {
    realtime = await startRealtime()
    const [ann] = await joinAll(realtime, 1)
    ann?.create('a')
    await ann?.line()
    const options = (wanted: number) =>
      ann?.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: wanted }))
    for (const wanted of [1, 9, 0, 1, 9]) options(wanted)
    const infos = Array(4).fill('info')
    expect(await ann?.lines(6)).toEqual(['info', 'v1 snapshot 1 1', ...infos])
    await realtime.clock.advance(999)
    options(9)
    expect(await ann?.line()).toBe('info')
    await realtime.clock.advance(1)
    expect(await ann?.line()).toBe('v2 snapshot 1 1')
    await realtime.clock.advance(5000)
    options(1)
    expect(await ann?.lines(2)).toEqual(['info', 'v1 snapshot 1 1'])
  })

  test('[R-KND-7] nothing follows for a client that has left, or wants none any more', async () => {
    realtime = await startRealtime()
    const [ann, bob] = await joinAll(realtime, 2)
    for (const client of [ann, bob]) {
      client?.create('a')
      await client?.line()
      for (const wanted of [1, 9]) {
        client?.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: wanted }))
      }
    }
    expect(await ann?.lines(3)).toEqual(['info', 'v1 snapshot 1 1', 'info'])
    expect(await ann?.line()).toBe('v2 joined 1 2')
    expect(await bob?.lines(3)).toEqual(['info', 'v1 snapshot 1 1 2', 'info'])
    ann?.leave()
    expect(await ann?.lines(2)).toEqual(['v2 left 1 1:left', 'left 1'])
    bob?.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: 0 }))
    expect(await bob?.lines(2)).toEqual(['v2 left 1 1:left', 'info'])
    await realtime.clock.advance(2000)
    expect([ann?.received, bob?.received]).toEqual([[], []])
  })
})

describe('of a large room', () => {
  test('[R-KND-7] are built in slices of 5 ms, for all receivers together', async () => {
    const { room, join, snapshots, turns } = slow(1)
    const receivers = [join(), join(), join()]
    for (const { member } of receivers) snapshots.send(room, member)
    // Each look at the clock takes a millisecond, and so does each part.
    expect(receivers.map(({ parts }) => parts.length)).toEqual([5, 0, 0])
    await turns(1)
    expect(receivers.map(({ parts }) => parts.length)).toEqual([5, 5, 0])
    await turns(1)
    for (const { parts } of receivers) {
      expect(parts.map(({ more, entries }) => [more, entries.length])).toEqual([
        ...Array(4).fill([true, 512]),
        [false, 3],
      ])
    }
  })

  test('[R-PRS-1, R-PRS-3] what happens meanwhile follows the last part, in its order', async () => {
    const { room, join, snapshots, turns } = slow(3)
    const { member, parts } = join()
    snapshots.send(room, member)
    expect(parts).toHaveLength(2)
    const [gone] = room.members
    if (gone === undefined) throw new Error('no member')
    room.members = room.members.filter((each) => each !== gone)
    sendNotice(room, gone, { event: 'left', reason: 'left' })
    const late = newParticipant(9000, undefined)
    room.members = [...room.members, late]
    sendNotice(room, late, { event: 'joined', reason: null })
    await turns(3)
    expect(parts.map(({ event, more }) => `${event} ${more}`)).toEqual([
      ...Array(4).fill('snapshot true'),
      'snapshot false',
      'left false',
      'joined false',
    ])
    const ids = parts.slice(0, 5).flatMap(({ entries }) => entries.map((one) => one.participant))
    expect(ids).toEqual([...ids].sort((one, other) => one - other))
    expect(ids).toHaveLength(2049)
  })

  test('[R-PRS-1] end before the own left of a member that goes meanwhile', async () => {
    const { room, join, snapshots, turns } = slow(3)
    const { member, parts } = join()
    snapshots.send(room, member)
    snapshots.end(member)
    sendOwnLeft(room, member, 'left')
    await turns(3)
    expect(parts.map(({ event, more }) => `${event} ${more}`)).toEqual([
      ...Array(2).fill('snapshot true'),
      'snapshot false',
      'left false',
    ])
  })

  test('are encoded once for all who are sent the same members, and anew after a change', () => {
    const { room, join, snapshots } = slow(0)
    const { member, frames } = join()
    const other = join()
    snapshots.send(room, member)
    snapshots.send(room, other.member)
    expect(other.frames).toHaveLength(5)
    expect(other.frames.every((frame, at) => frame === frames[at])).toBe(true)
    room.forgetPresence()
    snapshots.send(room, member)
    expect(frames[5]).not.toBe(frames[0])
    expect(frames[5]).toEqual(frames[0])
  })
})

/** A room of 2,048 and the receivers that join it; each part of a snapshot takes so long. */
function slow(partMs: number) {
  const clock = createFakeClock()
  let looks = 0
  const ticking = { ...clock, monotonicMs: () => Math.ceil(looks++ / 2) * partMs }
  const snapshots = createSnapshots(ticking)
  onTestFinished(() => snapshots.stop())
  const [id, label] = [1, defaultLabel('a')]
  const room = new Room({ id, matchId: 'mt1-0', name: 'a', binding: null, label })
  room.members = Array.from({ length: 2048 }, (_, index) => newParticipant(index + 1, undefined))
  function join() {
    const member: Participant = newParticipant(room.members.length + 1, undefined)
    const parts: RoomPresence[] = []
    const frames: unknown[] = []
    member.flags = flags[1]
    member.isConnected = true
    member.receiver = {
      ...noReceiver,
      deliver(frame) {
        frames.push(frame)
        parts.push(roomPresenceBody.decode(frame.bytes.subarray(6)))
      },
    }
    room.members = [...room.members, member]
    return { member, parts, frames }
  }
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { room, join, snapshots, turns }
}
