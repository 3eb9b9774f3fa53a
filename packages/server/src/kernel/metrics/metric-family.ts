import { Histogram } from './histogram.ts'

/** Label names with their values; both come from closed sets. */
export type Labels = Readonly<Record<string, string>>

type Head = { name: string; help: string }
/** The names of the labels that the samples have. */
type LabelNames = { labels: readonly string[] }

/** A metric with all its samples, as it is when `samples` is called. */
export type MetricFamily = Head &
  LabelNames &
  (
    | { type: 'counter' | 'gauge'; samples(): Iterable<Sample<number>> }
    | { type: 'histogram'; samples(): Iterable<Sample<Histogram>> }
    | { type: 'summary'; samples(): Iterable<Sample<Total>> }
  )

export type Sample<V> = { labels: Labels; value: V }

/** Number and sum of what was observed. */
export type Total = { count: number; sum: number }

type Branch<V> = { next: Map<string, Branch<V>>; sample: Sample<V> | undefined }

/** Values by their labels: each combination is made when it is first used. */
export class Labelled<V> {
  readonly #names: readonly string[]
  readonly #make: () => V
  /** A level for each label: to look up three short texts is cheaper than to join them into one. */
  readonly #root: Branch<V> = { next: new Map(), sample: undefined }
  readonly #samples: Sample<V>[] = []

  constructor(names: readonly string[], make: () => V) {
    this.#names = names
    this.#make = make
  }

  /** The value with these labels, given in the order of the names. */
  of(...values: readonly string[]): V {
    return this.sample(values).value
  }

  sample(values: readonly string[]): Sample<V> {
    let branch = this.#root
    for (const value of values) {
      let next = branch.next.get(value)
      if (next === undefined) {
        next = { next: new Map(), sample: undefined }
        branch.next.set(value, next)
      }
      branch = next
    }
    branch.sample ??= this.#add(values)
    return branch.sample
  }

  all(): Iterable<Sample<V>> {
    return this.#samples
  }

  #add(values: readonly string[]): Sample<V> {
    const labels = Object.fromEntries(this.#names.map((name, n) => [name, values[n] ?? '']))
    const sample = { labels, value: this.#make() }
    this.#samples.push(sample)
    return sample
  }
}

/** A counter with labels. */
export function counterFamily(head: Head, labelNames: readonly string[]) {
  const values = new Labelled(labelNames, () => 0)
  return {
    add(amount: number, ...labels: readonly string[]): void {
      values.sample(labels).value += amount
    },
    family: {
      ...head,
      labels: labelNames,
      type: 'counter',
      samples: () => values.all(),
    } satisfies MetricFamily,
  }
}

/** A histogram with labels; without label names it has one sample from the start. */
export function histogramFamily(
  head: Head,
  bounds: readonly number[],
  labelNames: readonly string[] = [],
) {
  const values = new Labelled(labelNames, () => new Histogram(bounds))
  if (labelNames.length === 0) values.of()
  return {
    observe(value: number, ...labels: readonly string[]): void {
      values.of(...labels).observe(value)
    },
    family: {
      ...head,
      labels: labelNames,
      type: 'histogram',
      samples: () => values.all(),
    } satisfies MetricFamily,
  }
}

/** Number and sum by label, without buckets: for many labels. */
export function summaryFamily(head: Head, labelNames: readonly string[]) {
  const values = new Labelled<Total>(labelNames, () => ({ count: 0, sum: 0 }))
  return {
    observe(value: number, ...labels: readonly string[]): void {
      const total = values.of(...labels)
      total.count += 1
      total.sum += value
    },
    family: {
      ...head,
      labels: labelNames,
      type: 'summary',
      samples: () => values.all(),
    } satisfies MetricFamily,
  }
}
