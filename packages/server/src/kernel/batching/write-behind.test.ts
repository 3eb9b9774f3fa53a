import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { createWriteBehind } from './write-behind.ts'

type Attempt = { rows: readonly number[]; commit: () => void; fail: (error?: Error) => void }

/** A queue of numbers whose every write waits to be committed or failed by the test. */
function open({ capacity = 100, batchItems = 4, flushIntervalMs = 250 } = {}) {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const attempts: Attempt[] = []
  const queue = createWriteBehind<number>({
    name: 'script_logs',
    capacity,
    batchItems,
    flushIntervalMs,
    clock,
    log,
    write: (rows) =>
      new Promise((commit, reject) => {
        attempts.push({ rows, commit, fail: (error = new Error('down')) => reject(error) })
      }),
  })
  const add = (...rows: number[]) => {
    for (const row of rows) queue.add(row)
  }
  return { clock, log, attempts, queue, add, last: () => attempts.at(-1) }
}

function total({ queue }: ReturnType<typeof open>): number {
  const { queued, written, dropped, abandoned } = queue.counts()
  return queued + written + dropped + abandoned
}

describe('a write-behind queue', () => {
  it('[S-Q-2] writes what waits after the flush interval', async () => {
    const { clock, attempts, queue, add } = open()
    add(1, 2)
    await clock.advance(249)
    expect(attempts).toHaveLength(0)
    await clock.advance(1)
    expect(attempts[0]?.rows).toEqual([1, 2])
    expect(queue.counts()).toMatchObject({ queued: 2, written: 0 })
    attempts[0]?.commit()
    await clock.advance(0)
    expect(queue.counts()).toMatchObject({ queued: 0, written: 2 })
    expect(clock.timersWaiting()).toBe(0)
  })

  it('[S-Q-2] writes at once when a batch is complete, and never more than a batch', async () => {
    const { clock, attempts, add } = open()
    add(1, 2, 3, 4, 5, 6, 7, 8, 9)
    await clock.advance(0)
    attempts[0]?.commit()
    await clock.advance(0)
    attempts[1]?.commit()
    await clock.advance(0)
    expect(attempts.map((attempt) => attempt.rows)).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ])
    await clock.advance(250)
    expect(attempts[2]?.rows).toEqual([9])
  })

  it('[S-Q-2] writes at once what came as a whole batch while another was written', async () => {
    const { clock, attempts, add } = open({ batchItems: 2 })
    add(1, 2)
    await clock.advance(0)
    add(3, 4)
    attempts[0]?.commit()
    await clock.advance(0)
    expect(attempts[1]?.rows).toEqual([3, 4])
  })

  it('[O-WB-2] repeats a failed batch unchanged after 250 ms, doubling to 5 s', async () => {
    const { clock, attempts, queue, add, last } = open()
    add(1, 2)
    await clock.advance(250)
    add(3, 4, 5, 6, 7)
    const delays: number[] = []
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      last()?.fail()
      const failedMs = clock.monotonicMs()
      while (attempts.length === attempt) await clock.advance(50)
      delays.push(clock.monotonicMs() - failedMs)
      expect(last()?.rows).toEqual([1, 2])
    }
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000])
    expect(queue.failingForMs()).toBe(delays.reduce((sum, delay) => sum + delay))
    expect(queue.counts()).toMatchObject({ failures: 7, queued: 7, written: 0 })

    last()?.commit()
    await clock.advance(0)
    expect(queue.failingForMs()).toBe(0)
    last()?.fail()
    await clock.advance(249)
    expect(attempts).toHaveLength(9)
    await clock.advance(1)
    expect(attempts).toHaveLength(10)
  })

  it('[O-WB-3] drops the oldest waiting row when it is full, never one being written', async () => {
    const { clock, attempts, queue, add } = open({ capacity: 6 })
    await clock.advance(1000)
    expect(queue.droppedAgoMs()).toBe(Number.POSITIVE_INFINITY)
    add(1, 2, 3, 4)
    await clock.advance(0)
    add(5, 6, 7, 8)
    expect(queue.counts()).toMatchObject({ added: 8, queued: 6, dropped: 2 })
    expect(queue.droppedAgoMs()).toBe(0)
    attempts[0]?.commit()
    await clock.advance(250)
    expect(queue.droppedAgoMs()).toBe(250)
    expect(attempts.map((attempt) => attempt.rows)).toEqual([
      [1, 2, 3, 4],
      [7, 8],
    ])
  })

  it('[O-WB-3] drops the new row when all the room is taken by rows being written', async () => {
    const { clock, attempts, queue, add } = open({ capacity: 2, batchItems: 2 })
    add(1, 2)
    await clock.advance(0)
    add(3)
    expect(queue.counts()).toMatchObject({ queued: 2, dropped: 1 })
    attempts[0]?.commit()
    await clock.advance(1000)
    expect(attempts).toHaveLength(1)
  })

  it('[O-WB-3] warns at most every 5 s, however many rows are dropped', async () => {
    const { clock, log, add, queue } = open({ capacity: 1, batchItems: 1 })
    const warnings = () => log.lines.filter((line) => line.message.includes('drops')).length
    for (let row = 0; row < 100; row += 1) add(row)
    expect(warnings()).toBe(1)
    await clock.advance(4999)
    add(1, 2, 3)
    expect(warnings()).toBe(1)
    await clock.advance(1)
    add(1, 2, 3)
    expect(warnings()).toBe(2)
    expect(queue.counts().dropped).toBe(105)
  })
})

describe('a flush', () => {
  it('resolves once everything added before it is written, without the usual delay', async () => {
    const { clock, attempts, queue, add } = open()
    add(1, 2, 3, 4, 5)
    const flushed = queue.flush(1000)
    add(6)
    await clock.advance(0)
    attempts[0]?.commit()
    await clock.advance(0)
    expect(attempts[1]?.rows).toEqual([5, 6])
    attempts[1]?.commit()
    expect(await flushed).toBe(true)
    expect(await queue.flush(1000)).toBe(true)
    expect(clock.timersWaiting()).toBe(0)
  })

  it('tries a failing batch at once, and says when the time was not enough', async () => {
    const { clock, attempts, queue, add, last } = open()
    add(1)
    await clock.advance(250)
    for (let attempt = 0; attempt < 5; attempt += 1) {
      last()?.fail()
      await clock.advance(5000)
    }
    last()?.fail()
    await clock.advance(1)
    const before = attempts.length
    const flushed = queue.flush(100)
    expect(attempts).toHaveLength(before + 1)
    await clock.advance(100)
    expect(await flushed).toBe(false)
    last()?.commit()
    await clock.advance(0)
    expect(queue.counts()).toMatchObject({ written: 1, queued: 0 })
  })
})

describe('the drain at shutdown', () => {
  it('[S-Q-3] writes everything when there is time, and abandons nothing', async () => {
    const { clock, attempts, log, queue, add } = open()
    add(1, 2, 3, 4, 5)
    const drained = queue.drain(5000)
    await clock.advance(0)
    attempts[0]?.commit()
    await clock.advance(0)
    attempts[1]?.commit()
    expect(await drained).toBe(0)
    expect(queue.counts()).toMatchObject({ written: 5, abandoned: 0 })
    expect(log.lines).toEqual([])
  })

  it('[S-Q-3] tries nothing again once its time is up, and says so to who waits', async () => {
    const { clock, attempts, queue, add, last } = open()
    add(1)
    const flushed = queue.flush(60_000)
    const drained = queue.drain(1100)
    // At 0, 250 and 750 ms; the next attempt would come at 1750 ms.
    for (const delayMs of [0, 250, 500]) {
      await clock.advance(delayMs)
      last()?.fail()
    }
    await clock.advance(350)
    expect([await drained, await flushed]).toEqual([1, false])
    add(2)
    await clock.advance(10_000)
    expect(attempts).toHaveLength(3)
    expect(queue.counts()).toMatchObject({ abandoned: 2, queued: 0, failures: 3 })
  })

  it('[S-Q-3] counts and logs what is left when the time is up', async () => {
    const node = open()
    node.add(1, 2, 3, 4, 5)
    const drained = node.queue.drain(5000)
    await node.clock.advance(5000)
    expect(await drained).toBe(5)
    expect(node.log.lines.at(-1)).toMatchObject({ fields: { abandoned: 5 } })
    node.add(6)
    // The commit that comes too late is not counted twice.
    node.attempts[0]?.commit()
    await node.clock.advance(10_000)
    expect(node.queue.counts()).toMatchObject({ written: 0, abandoned: 6, queued: 0 })
    expect(node.attempts).toHaveLength(1)
    expect(total(node)).toBe(6)
  })
})

describe('its counts', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 3, arbitrary: fc.record({ settle: fc.constantFrom('commit', 'fail') }) },
    { weight: 3, arbitrary: fc.record({ advance: fc.constantFrom(0, 100, 250, 6000) }) },
    { weight: 1, arbitrary: fc.record({ flush: fc.constantFrom(0, 1000) }) },
    { weight: 1, arbitrary: fc.record({ drain: fc.constantFrom(0, 1000) }) },
  )
  const shape = fc.record({
    capacity: fc.integer({ min: 1, max: 8 }),
    batchItems: fc.integer({ min: 1, max: 5 }),
    flushIntervalMs: fc.constantFrom(10, 250),
  })

  it('[O-WB-3] account for every row at every moment, and no row is written twice', async () => {
    const property = fc.asyncProperty(
      shape,
      fc.array(step, { maxLength: 40, size: 'max' }),
      async (how, steps) => {
        const node = open(how)
        const stored: number[] = []
        let added = 0
        let settled = 0
        for (const each of steps) {
          if ('add' in each) for (let n = 0; n < each.add; n += 1) node.add(added++)
          if ('advance' in each) await node.clock.advance(each.advance)
          if ('flush' in each) void node.queue.flush(each.flush)
          if ('drain' in each) void node.queue.drain(each.drain)
          if ('settle' in each && settled < node.attempts.length) {
            const attempt = node.attempts[settled++]
            if (each.settle === 'commit') stored.push(...(attempt?.rows ?? []))
            attempt?.[each.settle]()
            await node.clock.advance(0)
          }
          const counts = node.queue.counts()
          expect(counts.added).toBe(added)
          expect(total(node)).toBe(added)
          expect(counts.queued).toBeLessThanOrEqual(how.capacity)
          expect(counts.written).toBeLessThanOrEqual(stored.length)
          // One batch at a time: the next attempt waits for the end of the present one.
          expect(node.attempts.length - settled).toBeLessThanOrEqual(1)
        }
        expect(stored).toEqual([...new Set(stored)].sort((a, b) => a - b))
        expect(node.attempts.every(({ rows }) => rows.length <= how.batchItems)).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: 150 })
  })
})
