import { frameHeaderBytes, sessionFlags } from '@guildhall/contract'
import { encodeStateChanges, encodeStateFull, StateEncoder } from '@guildhall/contract/state'
import { expect, it } from 'vitest'
import { createFakeClock } from '../../../../kernel/clock.fake.ts'
import type { Participant } from '../../participants/participant.ts'
import { createStateFollowing } from './following.ts'

const room_id = 7

/** A member of a room with state, what it was sent, and what waits in its lane. */
function start() {
  const clock = createFakeClock()
  const asked: boolean[] = []
  const sent: ('whole' | 'change')[] = []
  const lane = { bytes: 0 }
  const looked: number[] = []
  const member = {
    id: 1,
    context: {},
    flags: sessionFlags.room_state as number,
    isConnected: true,
    room: { id: room_id, state: {} },
    following: undefined,
    receiver: {
      backlogBytes: () => lane.bytes,
      deliver: ({ bytes }: { bytes: Uint8Array }) => {
        sent.push((bytes[frameHeaderBytes] ?? 0) & 16 ? 'whole' : 'change')
      },
    },
  }
  const participant = member as unknown as Participant
  const registered = { participant }
  const following = createStateFollowing({
    clock,
    hooks: { stateWatch: (_context, isOn) => asked.push(isOn) },
    registry: {
      byId(id) {
        looked.push(id)
        return id === 1 ? registered.participant : undefined
      },
    },
  })
  const encoder = new StateEncoder()
  let n = 0
  encoder.compare({ n })
  const deliver = (body: Uint8Array, id = room_id, participants = [1, 2]) => {
    following.deliverState({ room_id: id, body, participants })
  }
  return {
    clock,
    asked,
    sent,
    lane,
    member,
    participant,
    registered,
    following,
    /** How often the member was looked up meanwhile. */
    looksOf(work: () => void) {
      looked.length = 0
      work()
      return looked.filter((id) => id === 1).length
    },
    whole: () => deliver(encodeStateFull({ seq: 1, room_id }, encoder), room_id, [1]),
    change(id = room_id) {
      n += 1
      const change = encoder.compare({ n })
      if (typeof change === 'string') throw new Error('a list is expected')
      deliver(encodeStateChanges(n, change), id)
    },
  }
}

it('[R-STA-4] who joins in the middle of a sync gets no change before its whole', () => {
  const { asked, sent, participant, following, whole, change } = start()
  change()
  following.entered(participant)
  expect(asked).toEqual([true])
  change()
  expect(sent).toEqual([])
  whole()
  change()
  change(8)
  expect(sent).toEqual(['whole', 'change'])
})

it('[R-STA-4] a member who never reads is left out, and has a whole when it has caught up', () => {
  const { asked, sent, lane, participant, following, whole, change } = start()
  following.entered(participant)
  whole()
  lane.bytes = 65_536
  change()
  expect(sent).toEqual(['whole', 'change'])
  lane.bytes = 70_000
  for (let n = 0; n < 1000; n += 1) change()
  lane.bytes = 32_768
  change()
  expect(sent).toHaveLength(2)
  expect(asked).toEqual([true])
  lane.bytes = 32_767
  change()
  change()
  expect([asked, sent.length]).toEqual([[true, true], 2])
  whole()
  change()
  expect(sent.slice(2)).toEqual(['whole', 'change'])
})

it('[R-STA-4] a member who never reads gets no wholes either, where each sync is one', () => {
  const { asked, sent, lane, participant, following, whole } = start()
  following.entered(participant)
  whole()
  lane.bytes = 70_000
  for (let n = 0; n < 1000; n += 1) whole()
  expect(sent).toEqual(['whole'])
  lane.bytes = 0
  whole()
  expect([asked, sent.length]).toEqual([[true, true], 1])
  whole()
  whole()
  expect(sent).toEqual(['whole', 'whole', 'whole'])
})

it('[R-STA-4] the whole one itself makes nobody slow', () => {
  const { sent, lane, participant, following, whole, change } = start()
  following.entered(participant)
  whole()
  lane.bytes = 65_536 + 20
  change()
  expect(sent).toEqual(['whole', 'change'])
})

it('[R-STA-4] a bit that is set again and again is answered once a second', async () => {
  const { clock, asked, member, participant, following } = start()
  const set = (isOn: boolean) => {
    member.flags = isOn ? sessionFlags.room_state : 0
    following.asked(participant)
  }
  for (let n = 0; n < 10; n += 1) {
    set(false)
    set(true)
  }
  expect(asked).toEqual([true, false])
  await clock.advance(1_000)
  expect(asked).toEqual([true, false, true])
  following.stop()
})

it('[R-STA-4] who comes under an id after another one gets what is for it', () => {
  const { sent, participant, registered, following, whole, change } = start()
  following.entered(participant)
  whole()
  const next: Participant = { ...participant, following: undefined }
  following.left(participant, participant.room)
  registered.participant = next
  following.entered(next)
  whole()
  change()
  expect(sent).toEqual(['whole', 'whole', 'change'])
  expect(participant.following).toBe(undefined)
})

it('[R-STA-4] receivers of a room are looked up once, and kept by nothing when one has left', () => {
  const { participant, following, whole, change, looksOf } = start()
  following.entered(participant)
  whole()
  change()
  whole()
  expect(looksOf(change)).toBe(1)
  following.left({ ...participant, following: undefined }, participant.room)
  expect(looksOf(change)).toBe(2)
  expect(looksOf(change)).toBe(1)
})
