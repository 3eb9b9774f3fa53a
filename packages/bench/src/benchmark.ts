import type { Cores } from './processes/cores.ts'

/** One thing that is measured, beside the baseline that it is compared with. */
export type Benchmark = {
  /** What the command line calls it. */
  readonly name: string
  /** It measures the product of `against` beside this one by itself, where the two may differ. */
  readonly comparesCheckouts?: true
  run(bench: Bench): Promise<Row[]>
}

/** What a run gives to every benchmark. */
export type Bench = {
  /** Which cores servers and load run on; undefined where processes cannot be pinned. */
  readonly cores: Cores | undefined
  /** An empty folder on a real disk, removed after the run. */
  readonly folder: string
  /** The folder of the checkout whose product is measured. */
  readonly checkout: string
  /** The folder of another checkout, whose product is measured beside it. */
  readonly against: string | undefined
  /** The wanted seconds of a measurement; a quick run takes a fraction of them. */
  seconds(wanted: number): number
  /** The wanted size of something; a quick run takes a fraction of it. */
  count(wanted: number): number
}

/** One line of the report. */
export type Row = {
  what: string
  product: Quantity
  baseline?: Quantity & { name: string }
  /** The product's figure divided by the baseline's. */
  ratio?: number
  bound?: Bound
  /** How the load went, e.g. the share of its core that the generator used. */
  notes?: string
}

export type Quantity = { value: number; unit: string }

/** What the product promises about its figure or about the ratio. */
export type Bound = { of: 'value' | 'ratio'; is: 'at least' | 'at most'; limit: number }

/** Undefined when nothing was promised. */
export function holds({ product, ratio, bound }: Row): boolean | undefined {
  if (bound === undefined) return undefined
  const measured = bound.of === 'value' ? product.value : (ratio ?? Number.NaN)
  return bound.is === 'at least' ? measured >= bound.limit : measured <= bound.limit
}
