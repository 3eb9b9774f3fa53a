import type { NewCall } from '../calls.ts'
import { hookCode, hooksByCode } from '../wire/hooks.ts'

/**
 * Which calls wait while a script starts or hands over. What runs while on_start does: timers that
 * it set, and filters, which its own writes to the storage wait for.
 *
 * What is open at a hand-over may wait for a timer, so they go on while it ends. Behind that they
 * could change what is handed over: then on_unload has those that it sets. What repeats begins only
 * while something is open that was so before: else runs of many timers, each of which waits for a
 * while, would keep each other going.
 */
export class Gates {
  #areTimersRun = false
  /** The newest call that was open when the script was paused. */
  #newest = 0
  #ofUnload: Set<number> | undefined

  /** The script is paused: what is open ends, by the ids of the calls. */
  drain(open: Iterable<number>): void {
    this.#areTimersRun = true
    this.#newest = 0
    for (const id of open) this.#newest = Math.max(this.#newest, id)
  }

  /** What it hands over is asked for. */
  close(): void {
    this.#areTimersRun = false
  }

  async unload<T>(run: () => Promise<T>): Promise<T> {
    this.close()
    this.#ofUnload = new Set()
    const outcome = await run()
    this.#ofUnload = undefined
    return outcome
  }

  /** The script has set this timer. */
  timerSet(timer: number): void {
    this.#ofUnload?.add(timer)
  }

  /** Whether a timer that repeats may run in such a state, with these calls open, oldest first. */
  mayRepeat(state: string, open: Iterable<number>): boolean {
    const [oldest = Number.POSITIVE_INFINITY] = open
    return state !== 'paused' || !this.#areTimersRun || oldest <= this.#newest
  }

  /** Whether this call waits in such a state, with so many open. */
  holds(call: NewCall, state: string, open: number): boolean {
    if (isFilter(call)) return false
    const isTimer = call.hook === hookCode.timer
    if (state === 'starting') return !isTimer
    return state === 'paused' && !(isTimer && this.#isAwaited(call, open))
  }

  #isAwaited({ detail = 0 }: NewCall, open: number): boolean {
    return (this.#areTimersRun && open > 0) || this.#ofUnload?.has(detail) === true
  }
}

/** What is open may wait for it. */
function isFilter({ hook }: NewCall): boolean {
  return hooksByCode[hook]?.row.immediate === true
}
