import type { ConsoleClient } from '@guildhall/client/console'
import { useMemo } from 'react'
import { useQueryPart } from './location.ts'
import { serverNow } from './node-status.ts'
import { pace } from './pace.ts'
import { type Reading, useRead } from './reads.ts'
import { merged, type Sample, samplesOf } from './samples.ts'

export type History = Awaited<ReturnType<ConsoleClient['history']['get']>>
export type HistoryMark = History['marks'][number]

/** How far back plots go, and how often the node is asked: between, the page reads by itself. */
export const historyRanges = {
  '5m': { sec: 300, words: '5 min', everyMs: undefined },
  '1h': { sec: 3600, words: '1 h', everyMs: pace.hour },
  '24h': { sec: 86_400, words: '24 h', everyMs: pace.day },
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
