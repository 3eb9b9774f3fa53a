import type { Clock } from '../../../kernel/clock.ts'
import { armedForMs, armedNumber, type Control, interrupt, isAttached } from '../control.ts'

type InterrupterDeps = {
  control: Control
  clock: Pick<Clock, 'after'>
  /** The time that is armed goes by: that of `processMs`. */
  nowMs: () => number
  /** Ends what the other thread runs, with an error that nothing catches. */
  terminate: () => void
}

/** What is due before the next look has a timer of its own. */
const aheadMs = 50

/** Interrupts what is armed when its time is over. Returns what looks, every few milliseconds. */
export function createInterrupter({ control, clock, nowMs, terminate }: InterrupterDeps) {
  let timed: number | undefined

  function end(armed: number): void {
    timed = undefined
    if (!isAttached(control) && interrupt(control, armed)) terminate()
  }

  return function look(): void {
    if (isAttached(control)) return
    const armed = armedNumber(control)
    if (armed === undefined || armed === timed) return
    const leftMs = armedForMs(control, nowMs())
    if (leftMs > aheadMs) return
    timed = armed
    if (leftMs > 0) clock.after(leftMs, () => end(armed))
    else end(armed)
  }
}
