import type { ConsoleClient } from '@guildhall/client/console'
import { useMemo } from 'react'
import { useQueryPart } from './location.ts'
import { serverNow } from './node-status.ts'
import { type Reading, useRead } from './reads.ts'
import type { Sample } from './samples.ts'

export type History = Awaited<ReturnType<ConsoleClient['history']['get']>>
export type HistoryMark = History['marks'][number]

/** How far back plots go, and how often the node is asked: between, the page reads by itself. */
export const historyRanges = {
  '5m': { sec: 300, words: '5 min', everyMs: undefined },
  '1h': { sec: 3600, words: '1 h', everyMs: 30_000 },
  '24h': { sec: 86_400, words: '24 h', everyMs: 300_000 },
} as const
export type HistoryRange = keyof typeof historyRanges

/** What plots are drawn from: readings by time, the last of them of now. */
export type Past = { spanSec: number; samples: readonly Sample[]; marks: readonly HistoryMark[] }

/** The range stands in the address. */
export function useHistoryRange(): [HistoryRange, (range: HistoryRange) => void] {
  const [text, set] = useQueryPart('range')
  return [
    text === '1h' || text === '24h' ? text : '5m',
    (range) => set(range === '5m' ? '' : range),
  ]
}

/** The node's own samples, and behind them those that the page has taken meanwhile. */
export function usePast(range: HistoryRange, live: readonly Sample[]): Past {
  const { sec, everyMs } = historyRanges[range]
  const options = { keep: true, ...(everyMs === undefined ? {} : { everyMs }) }
  const read = useRead(
    ['history', range],
    (client) => client.history.get({ query: { range } }),
    options,
  ) satisfies Reading<History>
  const { data } = read
  const kept = useMemo(() => (data === undefined ? [] : samplesOf(data)), [data])
  return useMemo(() => {
    const samples = merged(kept, live, (data?.step_ms ?? 0) / 1000)
    const fromSec = serverNow() / 1000 - sec
    return {
      spanSec: sec,
      samples: samples.filter(({ atSec }) => atSec >= fromSec),
      marks: data?.marks ?? [],
    }
  }, [kept, live, data, sec])
}

/** Each value is of the end of its step. Steps of which nothing is known are left out. */
function samplesOf({ from_unix_ms, step_ms, series }: History): Sample[] {
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
function merged(kept: readonly Sample[], live: readonly Sample[], stepSec: number): Sample[] {
  const own = stepSec > 10 ? live.slice(-1) : live
  const isSeen = ({ atSec }: Sample) => own.some((one) => Math.abs(one.atSec - atSec) < stepSec)
  return [...kept.filter((sample) => !isSeen(sample)), ...own].sort((a, b) => a.atSec - b.atSec)
}
