/** Two series of one length: 10 s apart for an hour, and a minute apart for a day. */
const fine = { stepMs: 10_000, slots: 360 } as const
const coarse = { stepMs: 60_000, slots: 1440 } as const

/** With 8 bytes a value, all series together stay below 4 MiB. */
const namesMax = 290

const ranges = {
  '5m': { ...fine, points: 30 },
  '1h': { ...fine, points: 360 },
  '24h': { ...coarse, points: 1440 },
} as const

export type HistoryRange = keyof typeof ranges

export const sampleEveryMs = fine.stepMs

/** What was counted over time, by name. A time without a value is null. */
export type History = { stepMs: number; series: Record<string, (number | null)[]> }

/**
 * Makes the memory of a node for its counters. Times are of a clock that only goes forward, so that
 * a wrong one of the machine tears no line.
 */
export function createSamples() {
  const rings = [createRing(fine), createRing(coarse)] as const
  const names = new Set<string>()
  return {
    /** The last value of a step is kept; names beyond the bound are left out. */
    record(atMs: number, values: Readonly<Record<string, number>>): void {
      const known = Object.entries(values).filter(([name]) => {
        if (names.size < namesMax) names.add(name)
        return names.has(name)
      })
      for (const ring of rings) ring.record(atMs, known)
    },
    read(range: HistoryRange, nowMs: number): History {
      const { stepMs, points } = ranges[range]
      return { stepMs, series: (stepMs === fine.stepMs ? rings[0] : rings[1]).read(nowMs, points) }
    },
  }
}

type Size = { stepMs: number; slots: number }

function createRing({ stepMs, slots }: Size) {
  const series = new Map<string, Float64Array>()
  let newest = Number.NaN

  /** Forgets what stood where the steps until `step` will stand. */
  function moveTo(step: number): void {
    const from = Number.isNaN(newest) ? step : Math.max(newest + 1, step - slots + 1)
    for (let at = from; at <= step; at += 1) {
      for (const values of series.values()) values[at % slots] = Number.NaN
    }
    newest = step
  }

  return {
    record(atMs: number, values: readonly (readonly [name: string, value: number])[]): void {
      const step = Math.floor(atMs / stepMs)
      if (step !== newest) moveTo(step)
      for (const [name, value] of values) {
        const line = series.get(name) ?? new Float64Array(slots).fill(Number.NaN)
        series.set(name, line)
        line[step % slots] = value
      }
    },

    /** The last `points` steps; a step that has only just begun is shown once it has a value. */
    read(nowMs: number, points: number): Record<string, (number | null)[]> {
      const current = Math.floor(nowMs / stepMs)
      const end = current - newest === 1 ? newest : current
      const valueAt = (line: Float64Array, step: number) => {
        const value = step > newest - slots && step >= 0 ? line[step % slots] : undefined
        return value === undefined || step > newest || Number.isNaN(value) ? null : value
      }
      const shown = Array.from(series, ([name, line]) => [
        name,
        Array.from({ length: points }, (_, at) => valueAt(line, end - points + 1 + at)),
      ])
      return Object.fromEntries(shown)
    },
  }
}
