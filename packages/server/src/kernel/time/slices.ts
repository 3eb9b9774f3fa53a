import { afterOthers, type Clock } from '../clock.ts'

/** Work that is done in slices, so that the event loop is never kept. */
export type Slices = {
  /**
   * Whether the slice is over; asked before each step, or before one that is as much as `steps`.
   */
  mustPause(steps?: number): boolean
  /** Looks at the time with the next step, whatever it was. */
  lookSoon(): void
  /**
   * Runs the generator, which yields where `mustPause` says so. After each slice it pauses for as
   * long as the slice took. `sliced` gets how long that was and may end the work.
   */
  run(work: Generator<void, void>, sliced?: (tookMs: number) => 'goes on' | 'ends'): Promise<void>
}

/** The time is looked at after so many steps. */
const stepsPerLook = 32

/** @param sliceMs how long the work may run at once */
export function createSlices(clock: Clock, sliceMs: number): Slices {
  let endsMs = 0
  let stepsToLook = stepsPerLook

  return {
    mustPause(steps = 1) {
      stepsToLook -= steps
      if (stepsToLook > 0) return false
      stepsToLook = stepsPerLook
      return clock.monotonicMs() >= endsMs
    },
    lookSoon() {
      stepsToLook = 0
    },
    async run(work, sliced = () => 'goes on') {
      for (;;) {
        const startMs = clock.monotonicMs()
        endsMs = startMs + sliceMs
        const { done } = work.next()
        const tookMs = clock.monotonicMs() - startMs
        if (sliced(tookMs) === 'ends' || (done && tookMs === 0)) return
        await clock.sleep(tookMs)
        if (done) return
        await afterOthers()
      }
    },
  }
}
