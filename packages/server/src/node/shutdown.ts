import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log/log.ts'
import { late, within } from '../kernel/time/within.ts'

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
  #begun = false
  #abandoned = false
  #unwrittenRows: () => number = () => 0

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /**
   * Registers how to close what was just opened. What a cancelled start still opens is closed at
   * once.
   */
  onStop(name: string, run: () => Promise<unknown>): void {
    if (this.#begun) {
      void this.#runStep({ name, run })
      return
    }
    this.#steps.push({ name, run })
  }

  /** Registers how many rows wait to be written or were given up, for the line at the deadline. */
  onCountRows(count: () => number): void {
    this.#unwrittenRows = count
  }

  /**
   * Runs every step, also when one fails. False when the deadline came first or a step failed: then
   * the rest is abandoned, or something may have been lost.
   */
  async run(deadlineMs: number): Promise<boolean> {
    const clean = await within(this.#clock, deadlineMs, this.#runSteps())
    if (clean !== late) return clean
    this.#abandoned = true
    this.#log.error('the shutdown passed its deadline', {
      unfinished_step: this.#current,
      rows_not_written: this.#unwrittenRows(),
    })
    return false
  }

  async #runSteps(): Promise<boolean> {
    this.#begun = true
    let clean = true
    for (const step of this.#steps.toReversed()) {
      if (this.#abandoned) break
      this.#current = step.name
      clean = (await this.#runStep(step)) && clean
    }
    return clean
  }

  async #runStep({ name, run }: Step): Promise<boolean> {
    try {
      await run()
      return true
    } catch (error) {
      this.#log.error('a step of the shutdown failed', { step: name, error })
      return false
    }
  }
}
