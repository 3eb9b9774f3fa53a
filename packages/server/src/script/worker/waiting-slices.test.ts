import { expect, it } from 'vitest'
import { newInvocation } from './invocation.ts'
import { WaitingSlices } from './waiting-slices.ts'

it('[S-STA-1] [R-STA-2] of many rooms that wait, those of one turn take little of its time', () => {
  let nowMs = 2_000
  let turns = 0
  const slices = new WaitingSlices({
    clock: { monotonicMs: () => nowMs },
    engine: { scope: {} },
    wantTurnEnd: () => {
      turns += 1
    },
  })
  const rooms = Array.from({ length: 7 }, () =>
    newInvocation(undefined, { startedMs: 0, deadlineMs: 1_000 }),
  )
  /** Which of them are looked at in a turn, at 0.5 ms each. */
  const looked = () => {
    const seen: number[] = []
    slices.endTurn((room) => {
      slices.seen(room)
      nowMs += 0.5
      seen.push(rooms.indexOf(room))
    })
    return seen
  }
  for (const room of rooms) slices.add(room)
  expect(looked()).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 1])
  const [, , third] = rooms
  if (third) slices.remove(third)
  expect([looked(), looked(), looked(), turns]).toEqual([[3, 4], [5, 6], [], 2])
  nowMs += 1_000
  expect([looked(), looked(), looked(), looked(), turns]).toEqual([[0, 1], [3, 4], [5, 6], [], 4])
})
