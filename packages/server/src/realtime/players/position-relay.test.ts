import { beforeEach, describe, expect, test } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createGatewayMetrics } from '../metrics.ts'
import { bytesOf, textOf } from '../realtime.fixture.ts'
import { Room } from '../rooms/room.ts'
import { newParticipant, type Participant } from '../session/live/participant.ts'
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
  participant.receiver = {
    deliver() {},
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
  room.members = members
  for (const member of members) member.room = room
  return room
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

  test('[R-DSP-2] go to those who are members when they leave', async () => {
    const [ann, bob, cid] = [newPlayer(1), newPlayer(2), newPlayer(3)]
    const room = newRoom(ann, bob)
    send(ann, 'a')
    room.members = [bob, cid]
    await clock.advance(2)
    expect(delivered).toEqual(['2: 1a', '3: 1a'])
    expect(metrics.unreliable_coalesced_total).toBe(0)
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
