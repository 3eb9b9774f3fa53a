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

/** What the node keeps of its past. */
type Kept = {
  from_unix_ms: number
  step_ms: number
  series: Readonly<Record<string, readonly (number | null)[]>>
}

/** Each value is of the end of its step. Steps of which nothing is known are left out. */
export function samplesOf({ from_unix_ms, step_ms, series }: Kept): Sample[] {
  const lines = Object.entries(series)
  const count = lines[0]?.[1].length ?? 0
  return Array.from({ length: count }, (_, at) => {
    const known = lines.flatMap(([name, values]) => {
      const value = values[at]
      return value === null || value === undefined ? [] : [[name, value] as const]
    })
    return { atSec: (from_unix_ms + (at + 1) * step_ms) / 1000, metrics: Object.fromEntries(known) }
  }).filter(({ metrics }) => Object.keys(metrics).length > 0)
}

/** The page's own readings are finer: those of the node stand where the page has none. */
export function merged(
  kept: readonly Sample[],
  live: readonly Sample[],
  stepSec: number,
): Sample[] {
  const own = stepSec > 10 ? live.slice(-1) : live
  const isSeen = ({ atSec }: Sample) => own.some((one) => Math.abs(one.atSec - atSec) < stepSec)
  return [...kept.filter((sample) => !isSeen(sample)), ...own].sort((a, b) => a.atSec - b.atSec)
}
