/**
 * Rows that wait, of which there is one per key: a newer one takes the place of the one that waits,
 * and leaves when that would have left.
 */
export class KeyedRows<Row> {
  readonly #rows = new Map<string, Row>()
  readonly #keyOf: (row: Row) => string

  constructor(keyOf: (row: Row) => string) {
    this.#keyOf = keyOf
  }

  get size(): number {
    return this.#rows.size
  }

  push(row: Row): void {
    this.#rows.set(this.#keyOf(row), row)
  }

  /** Puts the row in the place of one with its key; false when none waits. */
  replace(row: Row): boolean {
    const key = this.#keyOf(row)
    if (!this.#rows.has(key)) return false
    this.#rows.set(key, row)
    return true
  }

  /** Takes out the oldest row. */
  shift(): Row | undefined {
    return this.take(1)[0]
  }

  /** Takes out up to `count` rows, oldest first. */
  take(count: number): Row[] {
    const taken: Row[] = []
    for (const [key, row] of this.#rows) {
      if (taken.length >= count) break
      this.#rows.delete(key)
      taken.push(row)
    }
    return taken
  }
}
