import type { JsonObject } from '@guildhall/contract'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { newParticipant } from '../participants/participant.ts'
import { defaultLabel } from './requests/label-answers.ts'
import { Room } from './room.ts'
import { createRoomsList } from './rooms-list.ts'

/** `rooms.list` of a node with so many listed rooms; each call comes from a client of its own. */
function open(count: number, clock: { monotonicMs(): number } = createFakeClock()) {
  const rooms = Array.from({ length: count }, (_, index) => {
    const label = { ...defaultLabel('m'), listed: true }
    return new Room({ id: index + 1, matchId: 'mt1-0', name: null, binding: null, label })
  })
  const method = createRoomsList({
    rooms: { listed: () => rooms },
    hooks: { admit: () => true },
    clock,
  })
  return { list: async (payload: JsonObject) => method.call(newParticipant(1, undefined), payload) }
}

const nothing = { filter: 'players > 0' }

test('[R-PRP-4] a page ends when 1,000 rooms have been looked at, and goes on behind them', async () => {
  const { list } = open(2000)
  expect(await list(nothing)).toEqual({ reply: { rooms: [], next_after: 1000 } })
  expect(await list({ ...nothing, after: 1 })).toEqual({ reply: { rooms: [], next_after: 1001 } })
  expect(await list({ ...nothing, after: 1000 })).toEqual({ reply: { rooms: [] } })
  const page = await list({ limit: 100, after: 1900 })
  expect('reply' in page && Object.keys(page.reply)).toEqual(['rooms'])
})

test('[R-PRP-4] 1,000 calls may wait, one more is refused, and all are answered in order', async () => {
  const { list } = open(10)
  const answered: number[] = []
  const calls = Array.from({ length: 1000 }, async (_, index) => {
    const answer = await list({ limit: 1 })
    answered.push(index)
    return 'reply' in answer
  })
  expect(await list({ limit: 1 })).toEqual({ refusal: 'too many requests' })
  expect(answered).toEqual([])
  expect((await Promise.all(calls)).every((isReply) => isReply)).toBe(true)
  expect(answered).toEqual(Array.from({ length: 1000 }, (_, index) => index))
  expect(await list({ limit: 1 })).toHaveProperty('reply')
})

test('[R-PRP-4] a turn of the event loop takes 5 ms of it, and then others have theirs', async () => {
  let nowMs = 0
  // Every look at the clock is a millisecond later, so a turn has five steps of 50 rooms.
  const { list } = open(1000, { monotonicMs: () => nowMs++ })
  let turns = 0
  const count = () => {
    turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await list(nothing)
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(3)
})
