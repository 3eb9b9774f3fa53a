/**
 * The newest entries, up to a fixed number. Memory grows only as entries come, so a generous
 * capacity costs nothing until it is used.
 */
export class Ring<T> {
  readonly capacity: number
  readonly #slots: (T | undefined)[] = []
  /** Where the oldest entry lies. */
  #head = 0
  #size = 0

  constructor(capacity: number) {
    if (!(Number.isSafeInteger(capacity) && capacity > 0)) {
      throw new RangeError('a ring needs room for at least one entry')
    }
    this.capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  /** Adds an entry; a full ring gives up its oldest one for it, which is returned. */
  push(entry: T): T | undefined {
    const displaced = this.#size === this.capacity ? this.shift() : undefined
    this.#slots[(this.#head + this.#size) % this.capacity] = entry
    this.#size += 1
    return displaced
  }

  /** Takes out the oldest entry. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined
    const oldest = this.#slots[this.#head]
    this.#slots[this.#head] = undefined
    this.#head = (this.#head + 1) % this.capacity
    this.#size -= 1
    return oldest
  }

  /** Takes out up to `count` entries, oldest first. */
  take(count: number): T[] {
    const taken: T[] = []
    while (taken.length < count && this.#size > 0) {
      const oldest = this.shift()
      if (oldest !== undefined) taken.push(oldest)
    }
    return taken
  }

  /** Reads all entries, newest first. The ring must not change meanwhile. */
  *newestFirst(): Generator<T> {
    for (let age = this.#size - 1; age >= 0; age -= 1) {
      const entry = this.#slots[(this.#head + age) % this.capacity]
      if (entry !== undefined) yield entry
    }
  }
}
