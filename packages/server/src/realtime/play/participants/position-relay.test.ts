import { beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { busyClock } from '../../../kernel/time/busy-clock.fixture.ts'
import { createGatewayMetrics } from '../../metrics.ts'
import { bytesOf, textOf } from '../../realtime.fixture.ts'
import { Room } from '../rooms/room.ts'
import { newParticipant, noReceiver, type Participant } from './participant.ts'
import { createPositionRelay } from './position-relay.ts'

const clock = createFakeClock()
const metrics = createGatewayMetrics()
const roomless = new Set<Participant>()
const relay = createPositionRelay({ clock, metrics, registry: { roomless } })
/** What was delivered, e.g. `3: 1a 2b`: to 3, of 1 and 2. */
let delivered: string[] = []

beforeEach(() => {
  delivered = []
  roomless.clear()
  metrics.unreliable_coalesced_total = 0
})

function newPlayer(id: number): Participant {
  const participant = newParticipant(id, undefined)
  participant.isConnected = true
  participant.receiver = {
    ...noReceiver,
    deliverPositions(positions, own) {
      const others = positions.filter(({ mergeKey }) => mergeKey !== own)
      const texts = others.map(({ bytes, mergeKey }) => `${mergeKey}${textOf(bytes).at(-1)}`)
      delivered.push(`${id}: ${texts.join(' ')}`)
    },
  }
  return participant
}

function newRoom(...members: Participant[]): Room {
  const label = { map: '', mode: '', max_players: 0, open: true, tick: false, listed: false }
  const room = new Room({
    id: 1,
    matchId: 'm',
    name: null,
    binding: null,
    label: { ...label, properties: {} },
  })
  for (const member of members) put(member, room)
  return room
}

function put(participant: Participant, room: Room): void {
  participant.room = room
  room.members = [...room.members, participant]
}

function take(participant: Participant, room: Room): void {
  participant.room = undefined
  room.members = room.members.filter((member) => member !== participant)
}

const send = (sender: Participant, text: string) => relay(sender, bytesOf(text))

describe('positions of a room', () => {
  test('[R-DSP-2] wait for 1 ms at least and 2 ms at most, and leave together', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    newRoom(ann, bob, cid)
    send(ann, 'a')
    await clock.advance(1)
    send(bob, 'b')
    expect(delivered).toEqual([])
    await clock.advance(1)
    expect(delivered).toEqual(['1: 2b', '2: 1a', '3: 1a 2b'])
    await clock.advance(10)
    expect(delivered.length).toBe(3)
  })

  test('[R-DSP-2] wait for nobody once they are all there; the next round waits anew', async () => {
    const [ann, bob] = [newPlayer(1), newPlayer(2)]
    newRoom(ann, bob)
    send(ann, 'a')
    expect(delivered).toEqual([])
    send(bob, 'b')
    expect(delivered).toEqual(['1: 2b', '2: 1a'])
    await clock.advance(1)
    send(ann, 'c')
    await clock.advance(1)
    expect(delivered.length).toBe(2)
    await clock.advance(1)
    expect(delivered.slice(2)).toEqual(['1: ', '2: 1c'])
  })

  test('[R-BP-2] the newest takes the place of the one that waits, for each receiver', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    newRoom(ann, bob, cid)
    for (const text of ['a', 'b', 'c']) send(ann, text)
    send(bob, 'd')
    await clock.advance(2)
    expect(delivered).toEqual(['1: 2d', '2: 1c', '3: 1c 2d'])
    expect(metrics.unreliable_coalesced_total).toBe(4)
  })

  test('[R-DSP-2] of one who has left reach nobody, and a newcomer hears those who are there', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    const room = newRoom(ann, bob)
    send(ann, 'a')
    take(ann, room)
    put(cid, room)
    await clock.advance(2)
    expect(delivered).toEqual([])
    send(bob, 'b')
    put(ann, room)
    await clock.advance(2)
    expect(delivered).toEqual(['2: ', '3: 2b', '1: 2b'])
  })

  test('[R-DSP-2] of one who has left do not count as those of one who is there', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    const room = newRoom(ann, bob, cid)
    send(ann, 'a')
    take(ann, room)
    send(bob, 'b')
    expect(delivered).toEqual([])
    await clock.advance(2)
    expect(delivered).toEqual(['2: ', '3: 2b'])
  })

  test('[R-BP-2] a replaced one is not counted for a member without connection', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    newRoom(ann, bob, cid)
    cid.isConnected = false
    for (const text of ['a', 'b']) send(ann, text)
    await clock.advance(2)
    expect(metrics.unreliable_coalesced_total).toBe(1)
  })

  test('[R-DSP-2] of a round that took long rest as long, and the newest of each sender waits', async () => {
    const { clock, work } = busyClock()
    const relay = createPositionRelay({ clock, metrics, registry: { roomless } })
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    newRoom(ann, bob, cid)
    const { receiver } = cid
    cid.receiver = {
      ...receiver,
      deliverPositions(...positions) {
        work(20)
        receiver.deliverPositions(...positions)
      },
    }
    relay(ann, bytesOf('a'))
    await clock.advance(2)
    expect(delivered).toEqual(['1: ', '2: 1a', '3: 1a'])
    for (const text of ['b', 'c', 'd']) relay(ann, bytesOf(text))
    await clock.advance(19)
    expect(delivered).toHaveLength(3)
    await clock.advance(3)
    expect(delivered.slice(3)).toEqual(['1: ', '2: 1d', '3: 1d'])
    expect(metrics.unreliable_coalesced_total).toBe(4)
    await clock.advance(100)
    expect(delivered).toHaveLength(6)
  })

  test('[R-DSP-2] go on after a delivery that failed', async () => {
    const [ann, bob, cid, dan, eve] = [1, 2, 3, 4, 5].map(newPlayer) as [
      Participant,
      Participant,
      Participant,
      Participant,
      Participant,
    ]
    newRoom(ann, bob)
    newRoom(cid, dan, eve)
    const { receiver } = bob
    bob.receiver = {
      ...noReceiver,
      deliverPositions() {
        throw new Error('on purpose')
      },
    }
    send(ann, 'a')
    send(cid, 'c')
    await expect(clock.advance(2)).rejects.toThrow('on purpose')
    bob.receiver = receiver
    delivered = []
    send(cid, 'd')
    await clock.advance(2)
    expect(delivered).toEqual(['3: ', '4: 3d', '5: 3d'])
  })

  test('[R-DSP-2] of one who is alone go nowhere', async () => {
    const ann = newPlayer(1)
    newRoom(ann)
    expect(send(ann, 'a')).toBe(true)
    await clock.advance(2)
    expect(delivered).toEqual([])
  })
})

test('[R-DSP-2] rooms and those outside of them wait apart', async () => {
  const [ann, bob, cid, dan] = [newPlayer(1), newPlayer(2), newPlayer(3), newPlayer(4)]
  newRoom(ann, bob)
  for (const participant of [cid, dan]) roomless.add(participant)
  send(ann, 'a')
  send(cid, 'c')
  send(dan, 'd')
  expect(delivered).toEqual(['3: 4d', '4: 3c'])
  await clock.advance(2)
  expect(delivered.slice(2)).toEqual(['1: ', '2: 1a'])
})

test('[R-DSP-2] outside of rooms they are dropped and counted when too many have come meanwhile', async () => {
  const [ann, bob] = [newPlayer(1), newPlayer(2)]
  for (const participant of [ann, bob]) roomless.add(participant)
  const unhandled = metrics.unhandled_kind_total
  expect(send(ann, 'a')).toBe(true)
  for (let id = 3; id <= 258; id += 1) roomless.add(newPlayer(id))
  expect(send(bob, 'b')).toBe(false)
  await clock.advance(2)
  expect(delivered).toEqual([])
  expect(metrics.unhandled_kind_total).toBe(unhandled + 1)
})
