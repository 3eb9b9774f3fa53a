import { describe, expect, it } from 'vitest'
import { createFakeClock } from './clock.fake.ts'
import { atEndOfTurn, createSystemClock } from './clock.ts'

describe('the fake clock', () => {
  it('stands still until it is advanced, and then moves both clocks', async () => {
    const clock = createFakeClock({ startUnixMs: 1000 })
    expect([clock.nowUnixMs(), clock.monotonicMs()]).toEqual([1000, 0])
    await clock.advance(250)
    expect([clock.nowUnixMs(), clock.monotonicMs()]).toEqual([1250, 250])
  })

  it('fires timers in order of their instants, each seeing its own instant', async () => {
    const clock = createFakeClock({ startUnixMs: 0 })
    const seen: string[] = []
    const note = (name: string) => () => seen.push(`${name}@${clock.nowUnixMs()}`)
    clock.after(30, note('late'))
    clock.after(10, note('first'))
    clock.after(10, note('second'))
    clock.every(20, note('tick'))
    await clock.advance(40)
    expect(seen).toEqual(['first@10', 'second@10', 'tick@20', 'late@30', 'tick@40'])
  })

  it('leaves a timer alone until its very millisecond', async () => {
    const clock = createFakeClock()
    let fired = 0
    clock.after(100, () => fired++)
    await clock.advance(99)
    expect(fired).toBe(0)
    await clock.advance(1)
    expect(fired).toBe(1)
    await clock.advance(1000)
    expect(fired).toBe(1)
    expect(clock.timersWaiting()).toBe(0)
  })

  it('cancels timers, also an interval from inside its own task', async () => {
    const clock = createFakeClock()
    const seen: string[] = []
    clock.after(10, () => seen.push('cancelled')).cancel()
    const ticking = clock.every(10, () => {
      seen.push('tick')
      ticking.cancel()
    })
    await clock.advance(100)
    expect(seen).toEqual(['tick'])
    expect(clock.timersWaiting()).toBe(0)
  })

  it('lets promises and end-of-turn tasks run between timers', async () => {
    const clock = createFakeClock()
    const seen: number[] = []
    async function loop(): Promise<void> {
      for (let round = 0; round < 3; round += 1) {
        await clock.sleep(10)
        await new Promise<void>((resolve) => atEndOfTurn(resolve))
        seen.push(clock.monotonicMs())
      }
    }
    void loop()
    await clock.advance(30)
    expect(seen).toEqual([10, 20, 30])
  })

  it('moves only the wall clock in a jump', async () => {
    const clock = createFakeClock({ startUnixMs: 5000 })
    let fired = 0
    clock.after(100, () => fired++)
    clock.setWall(3_600_000)
    expect(clock.nowUnixMs()).toBe(3_600_000)
    await clock.advance(99)
    expect([fired, clock.monotonicMs(), clock.nowUnixMs()]).toEqual([0, 99, 3_600_099])
    clock.setWall(0)
    await clock.advance(1)
    expect([fired, clock.nowUnixMs()]).toEqual([1, 1])
  })
})

describe.each([
  ['the system clock', createSystemClock],
  ['the fake clock', () => createFakeClock()],
])('%s', (_name, create) => {
  it('ends a sleep with an AbortError when its signal aborts, before or during it', async () => {
    const clock = create()
    const before = AbortSignal.abort(new Error('shutting down'))
    await expect(clock.sleep(60_000, before)).rejects.toMatchObject({
      name: 'AbortError',
      code: 'ABORT_ERR',
    })
    const during = new AbortController()
    const sleeping = clock.sleep(60_000, during.signal)
    during.abort()
    await expect(sleeping).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' })
  })
})

describe('the system clock', () => {
  it('gives the wall time in whole milliseconds and a monotonic time with fractions', async () => {
    const clock = createSystemClock()
    expect(Number.isInteger(clock.nowUnixMs())).toBe(true)
    const before = clock.monotonicMs()
    await clock.sleep(2)
    expect(clock.monotonicMs()).toBeGreaterThan(before)
  })

  it('runs its timers and stops them when they are cancelled', async () => {
    const clock = createSystemClock()
    const seen: string[] = []
    clock.after(1, () => seen.push('cancelled')).cancel()
    const ticked = new Promise<void>((resolve) => {
      const ticking = clock.every(1, () => {
        ticking.cancel()
        seen.push('tick')
        resolve()
      })
    })
    await Promise.all([ticked, new Promise<void>((resolve) => void clock.after(5, resolve))])
    expect(seen).toEqual(['tick'])
  })
})
