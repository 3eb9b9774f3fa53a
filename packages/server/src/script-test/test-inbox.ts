import type { Clock } from '../kernel/clock.ts'
import { late, within } from '../kernel/time/within.ts'

/** How long a test waits for what does not come, in real milliseconds. */
export const patienceMs = 5000

/** What has come, for a test that takes it one by one. */
export class TestInbox<T> {
  readonly #clock: Clock
  /** All of it, in the order in which it came. */
  readonly all: T[] = []
  readonly #taken = new Set<T>()
  readonly #waiting = new Set<() => void>()

  constructor(realClock: Clock) {
    this.#clock = realClock
  }

  push(item: T): void {
    this.all.push(item)
    for (const look of this.#waiting) look()
  }

  /**
   * The first that nobody has taken, once it has come.
   *
   * @param what what is waited for, in the error
   * @throws when it does not come
   */
  async take(what: string, isWanted: (item: T) => boolean): Promise<T> {
    const found = Promise.withResolvers<T>()
    const look = () => {
      const item = this.all.find((each) => !this.#taken.has(each) && isWanted(each))
      if (item === undefined) return
      this.#taken.add(item)
      this.#waiting.delete(look)
      found.resolve(item)
    }
    this.#waiting.add(look)
    look()
    const item = await within(this.#clock, patienceMs, found.promise)
    this.#waiting.delete(look)
    if (item === late) throw new Error(`${what} did not come within ${patienceMs} ms`)
    return item
  }
}
