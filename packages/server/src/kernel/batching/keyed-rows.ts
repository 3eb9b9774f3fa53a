export type KeyedRowsOptions<Row> = {
  keyOf(row: Row): string
  /** Rows that are never given up, because their number has another bound; none if not given. */
  isHeld?(row: Row): boolean
}

/**
 * Rows that wait, of which there is one per key: a newer one takes the place of the one that waits,
 * and leaves when that would have left.
 */
export class KeyedRows<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #options: KeyedRowsOptions<Row>
  #held = 0

  constructor(options: KeyedRowsOptions<Row>) {
    this.#options = options
  }

  get size(): number {
    return this.#rows.size
  }

  /** The rows that may be given up. */
  get spare(): number {
    return this.#rows.size - this.#held
  }

  /** Adds the row, or puts it in the place of one with its key; true when none was there. */
  put(row: Row): boolean {
    const key = this.#options.keyOf(row)
    const before = this.#rows.get(key)
    this.#rows.set(key, row)
    this.#held += this.#holds(row) - (before === undefined ? 0 : this.#holds(before))
    return before === undefined
  }

  /** Gives up the oldest row that may be. */
  giveUp(): void {
    for (const [key, row] of this.#rows) {
      if (this.#holds(row) === 1) continue
      this.#rows.delete(key)
      return
    }
  }

  /** Takes out up to `count` rows, oldest first. */
  take(count: number): Row[] {
    const taken: Row[] = []
    for (const [key, row] of this.#rows) {
      if (taken.length >= count) break
      this.#rows.delete(key)
      this.#held -= this.#holds(row)
      taken.push(row)
    }
    return taken
  }

  #holds(row: Row): 0 | 1 {
    return this.#options.isHeld?.(row) ? 1 : 0
  }
}
