import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import {
  beginSlice,
  createControl,
  endSlice,
  overdueCall,
  setAttached,
  setOpenCalls,
  ticks,
} from '../control.ts'
import { createWatch } from './watch.ts'

function create({ deadlineMs = 100, answering = true } = {}) {
  const clock = createFakeClock()
  let heldUpMs = 0
  const { control } = createControl()
  const seen: string[] = []
  let pings = 0
  const watch = createWatch({
    control,
    clock: { ...clock, monotonicMs: () => clock.monotonicMs() + heldUpMs },
    deadlineMs,
    looked: () => {},
    post({ n }) {
      pings += 1
      if (answering) watch.pong(n)
    },
    overdue() {
      const { running, begun } = overdueCall(control)
      seen.push(`overdue ${running} ${begun}`)
    },
    unresponsive: () => seen.push('unresponsive'),
  })
  watch.start()
  /** All threads stand still for a while, as on a machine that sleeps. */
  const holdUp = (ms: number) => {
    heldUpMs += ms
  }
  return { clock, control, seen, holdUp, pings: () => pings }
}

describe('the watch', () => {
  it('[S-LIM-2] [S-WP-5] lets a slice run to its deadline and 1,000 ms, not longer', async () => {
    const { clock, control, seen } = create()
    await clock.advance(10)
    beginSlice(control, 7)
    await clock.advance(1_100)
    expect(seen).toEqual([])
    await clock.advance(51)
    expect(seen[0]).toBe('overdue 7 7')
    expect(ticks(control)).toBeGreaterThanOrEqual(1_150 / 25)
  })

  it('[S-LIM-2] [S-WP-7] counts no time in which the process stood still', async () => {
    const { clock, control, seen, holdUp } = create({ answering: false })
    await clock.advance(1_500)
    holdUp(60_000)
    await clock.advance(100)
    beginSlice(control, 7)
    await clock.advance(100)
    holdUp(60_000)
    await clock.advance(900)
    expect(seen).toEqual([])
    await clock.advance(200)
    expect(seen[0]).toBe('overdue 7 7')
  })

  it('[S-LIM-2] counts each slice for itself, also the one after the first suspension', async () => {
    const { clock, control, seen } = create()
    for (let call = 1; call < 20; call += 1) {
      beginSlice(control, call)
      await clock.advance(600)
    }
    endSlice(control)
    endSlice(control)
    await clock.advance(3_000)
    expect(seen).toEqual([])
  })

  it('[S-WP-7] pings every second', async () => {
    const { clock, pings, seen } = create()
    await clock.advance(10_100)
    expect(pings()).toBeGreaterThanOrEqual(9)
    expect(pings()).toBeLessThanOrEqual(10)
    expect(seen).toEqual([])
  })

  it('[S-WP-7] gives up a thread that does not answer for 5 s while no call runs', async () => {
    const { clock, seen } = create({ answering: false })
    await clock.advance(5_900)
    expect(seen).toEqual([])
    await clock.advance(300)
    expect(seen[0]).toBe('unresponsive')
  })

  it('[S-WP-7] waits for as long as calls run', async () => {
    const { clock, control, seen } = create({ answering: false })
    await clock.advance(1_500)
    for (let call = 1; call < 30; call += 1) {
      beginSlice(control, call)
      await clock.advance(500)
    }
    expect(seen).toEqual([])
  })

  it('[S-DBG-1] rests while a debugger is attached, in a slice and between slices', async () => {
    const { clock, control, seen, pings } = create({ answering: false })
    await clock.advance(1_500)
    const sent = pings()
    setAttached(control, true)
    await clock.advance(60_000)
    beginSlice(control, 7)
    await clock.advance(60_000)
    expect([seen, pings()]).toEqual([[], sent])
    setAttached(control, false)
    await clock.advance(1_050)
    expect(seen).toEqual([])
    await clock.advance(100)
    expect(seen[0]).toBe('overdue 7 7')
  })

  it('[S-LIM-2] allows a slice of a waiting call, unknown to the host, no more than a known one', async () => {
    const { clock, control, seen } = create({ answering: false })
    for (const call of [7, 6, 0]) beginSlice(control, call)
    endSlice(control)
    setOpenCalls(control, 1)
    await clock.advance(2_000)
    expect(seen).toEqual([])
    await clock.advance(300)
    expect(seen[0]).toBe('overdue 0 7')
  })
})
