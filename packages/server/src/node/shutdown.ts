import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'

type Step = { name: string; run: () => Promise<unknown> }

/**
 * What a start has opened, to be closed in the opposite order: the listener before what serves it,
 * the database last.
 */
export class Shutdown {
  readonly #clock: Clock
  readonly #log: Log
  readonly #steps: Step[] = []
  #current = 'none'

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Registers how to close what was just opened. */
  onStop(name: string, run: () => Promise<unknown>): void {
    this.#steps.push({ name, run })
  }

  /**
   * Runs every step, also when one fails. False when the deadline came first or a step failed: then
   * the rest is abandoned, or something may have been lost.
   */
  async run(deadlineMs: number): Promise<boolean> {
    const deadline = new AbortController()
    const tooLate = this.#clock.sleep(deadlineMs, deadline.signal).then(
      () => false,
      () => false,
    )
    const clean = await Promise.race([this.#runSteps(), tooLate])
    if (this.#current !== 'done') {
      this.#log.error('the shutdown passed its deadline', { unfinished_step: this.#current })
    }
    deadline.abort()
    return clean
  }

  async #runSteps(): Promise<boolean> {
    let clean = true
    for (const { name, run } of this.#steps.toReversed()) {
      this.#current = name
      try {
        await run()
      } catch (error) {
        clean = false
        this.#log.error('a step of the shutdown failed', { step: name, error })
      }
    }
    this.#current = 'done'
    return clean
  }
}
