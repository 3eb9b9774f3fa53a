/** One reading of the node's counters; `atSec` is of the node's clock. */
export type Sample = { atSec: number; metrics: Readonly<Record<string, number>> }

/**
 * A line of a plot: the value of a gauge, or how a counter grows: per second, or for each one that
 * another counter grew by.
 */
export type Line =
  | { label: string; value: string }
  | { label: string; rate: string; per?: string; scale?: number }

/** So many readings are kept of those that the page took itself: for five minutes. */
const samplesMax = 150

/** A reading that is not newer than the last one is the same one again. */
export function withSample(before: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = before.at(-1)
  if (last !== undefined && last.atSec >= sample.atSec) return before
  return [...before, sample].slice(-samplesMax)
}

/** The line's value at each reading; null where there is none. */
export function valuesOf(samples: readonly Sample[], line: Line): (number | null)[] {
  if ('value' in line) return samples.map(({ metrics }) => metrics[line.value] ?? null)
  return samples.map((sample, index) => {
    const before = samples[index - 1]
    if (before === undefined) return null
    const grown = growth(before, sample, line.rate)
    const by =
      line.per === undefined ? sample.atSec - before.atSec : growth(before, sample, line.per)
    return grown === null || by === null || by === 0 ? null : (grown * (line.scale ?? 1)) / by
  })
}

/** Null when the counter fell: then another process counts. */
function growth(before: Sample, sample: Sample, name: string): number | null {
  const [was, is] = [before.metrics[name], sample.metrics[name]]
  return was === undefined || is === undefined || is < was ? null : is - was
}
