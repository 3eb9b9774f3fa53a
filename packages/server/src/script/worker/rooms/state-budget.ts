import { HostSet } from '../host-map.ts'

/** What has an upper bound of its bytes, and can make it exact. */
type Counted = {
  readonly bytes: number
  /** What the budget has counted of them. */
  countedBytes: number
  measure(): void
}

/**
 * What the states of all rooms may have together, in bytes as JSON text. Copies know an upper bound
 * of their own; the text is made only when the bounds say that it may be too much.
 */
export class StateBudget {
  readonly #max: () => number
  readonly #copies = new HostSet<Counted>()
  #total = 0

  constructor(max: () => number) {
    this.#max = max
  }

  get max(): number {
    return this.#max()
  }

  /** Takes over what a copy has now; false when all of them are too much together. */
  take(copy: Counted): boolean {
    this.#set(copy)
    if (this.#total <= this.max) return true
    for (const each of this.#copies) {
      each.measure()
      this.#set(each)
    }
    return this.#total <= this.max
  }

  /** The copy is as it was before `take`. */
  giveBack(copy: Counted): void {
    if (copy.bytes === 0) this.remove(copy)
    else this.#set(copy)
  }

  remove(copy: Counted): void {
    this.#total -= copy.countedBytes
    copy.countedBytes = 0
    this.#copies.delete(copy)
  }

  #set(copy: Counted): void {
    const { bytes, countedBytes } = copy
    if (countedBytes === 0) this.#copies.add(copy)
    // Nothing is called from here on: an interrupt leaves either both or none.
    this.#total += bytes - countedBytes
    copy.countedBytes = bytes
  }
}
