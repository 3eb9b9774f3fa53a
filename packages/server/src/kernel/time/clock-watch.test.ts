import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { ClockUnfit, createClockWatch, expectSameTime } from './clock-watch.ts'

const minute = 60_000
const hour = 60 * minute

function setup() {
  const clock = createFakeClock()
  const log = createRecordedLog()
  const watch = createClockWatch({ clock, log })
  const jump = (byMs: number) => {
    clock.setWall(clock.nowUnixMs() + byMs)
    watch.check()
  }
  return { clock, log, watch, jump }
}

describe('the watch over the wall clock', () => {
  it('[O-CLK-2] takes time that passes for what it is, however long the checks were apart', async () => {
    const { clock, watch } = setup()
    await clock.advance(48 * hour)
    expect([watch.onHold(), watch.doubtful(), watch.jumps()]).toEqual([false, false, 0])
  })

  it.each([30_000, -30_000, 1])('[O-CLK-2] a step of %i ms is no jump', (byMs) => {
    const { jump, watch, log } = setup()
    jump(byMs)
    expect([watch.jumps(), log.lines]).toEqual([0, []])
  })

  it.each([
    [30_001, false],
    [-30_001, false],
    [-400 * 24 * hour, false],
    [hour, false],
    [hour + 1, true],
    [400 * 24 * hour, true],
  ])('[O-CLK-2] a jump of %i ms is logged and counted; retention waits: %s', (byMs, waits) => {
    const { jump, watch, log } = setup()
    jump(byMs)
    expect([watch.jumps(), watch.onHold(), watch.doubtful()]).toEqual([1, waits, waits])
    expect(log.lines.map(({ level, fields }) => [level, fields])).toEqual([
      ['warn', { clock: 'node', by_ms: byMs, waits }],
    ])
  })

  it('[O-CLK-2] the wait ends after 10 minutes, also when the glitch was corrected', async () => {
    const { clock, jump, watch } = setup()
    jump(2 * hour)
    jump(-2 * hour)
    await clock.advance(10 * minute - 1)
    expect(watch.onHold()).toBe(true)
    await clock.advance(1)
    expect([watch.onHold(), watch.jumps()]).toEqual([false, 2])
  })

  it('[O-CLK-2] sees a jump at once when it is asked, before the next check', () => {
    const { clock, watch } = setup()
    clock.setWall(clock.nowUnixMs() + 2 * hour)
    expect(watch.onHold()).toBe(true)
  })

  it('[O-CLK-3] waits until the clock has passed what is stored', async () => {
    const { clock, watch } = setup()
    const recorded = clock.nowUnixMs() + minute + 1
    watch.expectPast(recorded)
    expect([watch.onHold(), watch.doubtful()]).toEqual([true, true])
    await clock.advance(minute)
    expect(watch.onHold()).toBe(true)
    await clock.advance(1)
    expect([watch.onHold(), watch.doubtful()]).toEqual([false, false])
  })

  it('[O-CLK-3] a clock that is 60 s behind what is stored is good enough', () => {
    const { clock, watch } = setup()
    watch.expectPast(clock.nowUnixMs() + minute)
    expect(watch.onHold()).toBe(false)
  })
})

describe("the watch over the database's clock", () => {
  /** A database whose clock is ahead, and that takes `tookMs` to say so, asked in the middle. */
  function databaseOf({ clock, watch }: ReturnType<typeof setup>) {
    return async (aheadMs: number, tookMs = 0) => {
      const compared = watch.compare(async () => {
        await clock.advance(tookMs / 2)
        const answer = clock.nowUnixMs() + aheadMs
        await clock.advance(tookMs / 2)
        return answer
      })
      return compared
    }
  }

  it.each([
    [2000, false],
    [2001, true],
    [-2000, false],
    [-2001, true],
  ])('[O-CLK-3] %i ms of difference are doubtful: %s', async (aheadMs, doubtful) => {
    const test = setup()
    expect(await databaseOf(test)(aheadMs)).toBe(aheadMs)
    expect([test.watch.doubtful(), test.watch.onHold()]).toEqual([doubtful, false])
  })

  it('[O-CLK-3] trusts again what agrees again, and says both once', async () => {
    const test = setup()
    const compare = databaseOf(test)
    for (const aheadMs of [0, 3000, 3500, 100, 0]) await compare(aheadMs)
    expect(test.watch.doubtful()).toBe(false)
    expect(test.log.lines.map(({ level }) => level)).toEqual(['warn', 'info'])
  })

  it('[O-CLK-3] a slow answer is no difference, and no jump', async () => {
    const test = setup()
    const compare = databaseOf(test)
    expect(await compare(0)).toBe(0)
    expect(await compare(0, 200_000)).toBe(0)
    expect(await compare(0)).toBe(0)
    expect([test.watch.doubtful(), test.watch.jumps()]).toEqual([false, 0])
  })

  it('[O-CLK-2] waits as well after a jump of the clock that the boundaries go by', async () => {
    const test = setup()
    const compare = databaseOf(test)
    await compare(0)
    await compare(2 * hour)
    expect([test.watch.jumps(), test.watch.onHold()]).toEqual([1, true])
    await compare(0)
    await test.clock.advance(10 * minute)
    expect([test.watch.jumps(), test.watch.onHold()]).toEqual([2, false])
  })

  it('[O-CLK-3] a start is refused by more than 60 s', () => {
    expect(() => expectSameTime(minute)).not.toThrow()
    expect(() => expectSameTime(-minute)).not.toThrow()
    expect(() => expectSameTime(75_000)).toThrow(ClockUnfit)
    expect(() => expectSameTime(75_000)).toThrow("is 75 s behind the database's")
    expect(() => expectSameTime(-minute - 1)).toThrow("is 60 s ahead of the database's")
  })

  it('[O-CLK-2] counts exactly the steps beyond 30 s, whatever the answers took', async () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: -8, max: 8 }), fc.nat({ max: 20 })), {
      maxLength: 10,
    })
    await fc.assert(
      fc.asyncProperty(steps, async (changes) => {
        const test = setup()
        const compare = databaseOf(test)
        await compare(0)
        let aheadMs = 0
        let expected = 0
        for (const [tens, tookMs] of changes) {
          aheadMs += tens * 10_000
          if (Math.abs(tens) > 3) expected += 1
          await compare(aheadMs, tookMs)
        }
        expect(test.watch.jumps()).toBe(expected)
      }),
      { numRuns: 50 },
    )
  })
})
