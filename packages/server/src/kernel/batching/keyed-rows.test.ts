import { expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { createWriteBehind } from './write-behind.ts'

type State = { id: string; version: number }

/** A queue of states, whose writes are held until they are let go. */
function open(capacity = 3) {
  const clock = createFakeClock()
  const written: string[][] = []
  let held: PromiseWithResolvers<void> | undefined
  const queue = createWriteBehind<State>({
    name: 'states',
    capacity,
    batchItems: 10,
    flushIntervalMs: 250,
    keyed: { keyOf: ({ id }) => id, isHeld: ({ version }) => version === 0 },
    async write(rows) {
      await held?.promise
      written.push(rows.map(({ id, version }) => `${id}${version}`))
    },
    clock,
    log: createRecordedLog(),
  })
  const sum = () => {
    const { written, queued, dropped, abandoned } = queue.counts()
    return written + queued + dropped + abandoned
  }
  return {
    clock,
    queue,
    written,
    sum,
    add: (...states: readonly (readonly [id: string, version: number])[]) => {
      for (const [id, version] of states) queue.add({ id, version })
    },
    hold() {
      held = Promise.withResolvers<void>()
      return held.resolve
    },
  }
}

it('[R-REC-2] [O-WB-1] writes the newest state of what waits, once and in its old place', async () => {
  const { clock, queue, written, add, sum } = open()
  add(['a', 1], ['b', 1], ['a', 2], ['a', 3])
  expect(queue.counts()).toMatchObject({ added: 2, queued: 2 })
  await clock.advance(250)
  expect(written).toEqual([['a3', 'b1']])
  expect([queue.counts().added, sum()]).toEqual([2, 2])
})

it('[R-REC-2] [O-WB-2] keeps a state that comes while an older one is being written', async () => {
  const { clock, queue, written, add, hold, sum } = open()
  const letGo = hold()
  add(['a', 1])
  await clock.advance(250)
  add(['a', 2], ['a', 3])
  expect(queue.counts()).toMatchObject({ added: 2, queued: 2 })
  letGo()
  await clock.advance(250)
  expect(written).toEqual([['a1'], ['a3']])
  expect([queue.counts().added, sum()]).toEqual([2, 2])
})

it('[R-REC-2] [O-WB-3] a full queue replaces states, and drops the oldest for a new one', async () => {
  const { clock, queue, written, add, sum } = open(2)
  add(['a', 1], ['b', 1], ['b', 2], ['a', 2])
  expect(queue.counts().dropped).toBe(0)
  add(['c', 1])
  expect(queue.counts()).toMatchObject({ added: 3, queued: 2, dropped: 1 })
  await clock.advance(250)
  expect(written).toEqual([['b2', 'c1']])
  expect([queue.counts().added, sum()]).toEqual([3, 3])
})

it('[R-REC-2] what is held counts in no bound and is never given up', async () => {
  const { clock, queue, written, add, sum } = open(2)
  add(['a', 0], ['b', 1], ['c', 0], ['d', 1], ['e', 0])
  expect(queue.counts()).toMatchObject({ added: 5, queued: 5, dropped: 0 })
  add(['c', 1])
  expect(queue.counts()).toMatchObject({ added: 5, queued: 4, dropped: 1 })
  add(['f', 1])
  expect(queue.counts()).toMatchObject({ added: 6, queued: 4, dropped: 2 })
  await clock.advance(250)
  expect(written).toEqual([['a0', 'd1', 'e0', 'f1']])
  expect(sum()).toBe(6)
  expect(await queue.drain(1000)).toBe(0)
})

it('[O-WB-1] [S-Q-3] abandons what comes after the end, also of what it knew', async () => {
  const { queue, add, sum } = open()
  add(['a', 1])
  expect(await queue.drain(1000)).toBe(0)
  add(['a', 2])
  expect(queue.counts()).toMatchObject({ added: 2, written: 1, abandoned: 1 })
  expect(sum()).toBe(2)
})
