/** Counts values by their size; a value that equals a bound belongs to that bound's bucket. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0

  /** @param bounds upper bounds of the buckets, ascending; one without bound is added */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  /** The sum of all values. */
  get sum(): number {
    return this.#sum
  }

  /** How many values are at most each bound, in ascending order; the last bound is infinite. */
  *cumulative(): Generator<{ bound: number; count: number }> {
    let count = 0
    for (const [index, own] of this.#counts.entries()) {
      count += own
      yield { bound: this.#bounds[index] ?? Number.POSITIVE_INFINITY, count }
    }
  }
}
