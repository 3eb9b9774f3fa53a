import type { api, HostTelemetry, ScriptActivation } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { defineFeature, mount } from '../feature.ts'
import { migrationsSince } from './history.store.ts'
import { createSamples, type HistoryRange } from './samples.ts'

export type HistoryDeps = {
  db: Database
  clock: Clock
  version: string
  /** What is known of the machine. */
  host(): HostTelemetry
  /** The last activations and rejections of scripts. */
  reloads(): readonly ScriptActivation[]
}

type Mark = z.input<typeof api.history.get.ok>['marks'][number]

const rangesMs = { '5m': 300_000, '1h': 3_600_000, '24h': 86_400_000 } as const

/** The counters of this node over the last day, in memory, and what explains their changes. */
export function historyFeature({ db, clock, version, host, reloads }: HistoryDeps) {
  const samples = createSamples()
  const start: Mark = {
    at_unix_ms: clock.nowUnixMs(),
    kind: 'start',
    text: `the node started, version ${version}`,
  }

  async function read(range: HistoryRange) {
    const { stepMs, series } = samples.read(range, clock.monotonicMs())
    const from_unix_ms = Math.max(0, clock.nowUnixMs() - rangesMs[range])
    // A store in memory has just been made, by all of them.
    const migrations = db.durable ? await migrationsSince(db, from_unix_ms) : []
    const marks = [start, ...reloads().flatMap(markOf), ...migrations]
      .filter(({ at_unix_ms }) => at_unix_ms >= from_unix_ms)
      .sort((a, b) => a.at_unix_ms - b.at_unix_ms)
    return { step_ms: stepMs, from_unix_ms, series, marks }
  }

  return defineFeature(
    { routes: mount({ history: { get: ({ query }) => read(query.range) } }) },
    {
      /** Takes what is counted now; to be called every `sampleEveryMs`. */
      record(metrics: Readonly<Record<string, number>>): void {
        const { cpu_usage_percent: cpu_percent, memory } = host()
        samples.record(clock.monotonicMs(), {
          ...metrics,
          ...(cpu_percent !== undefined && { cpu_percent }),
          ...(memory && {
            memory_bytes: memory.process_used_bytes,
            memory_used_bytes: memory.used_bytes,
          }),
        })
      },
    },
  )
}

function markOf({ at_unix_ms, outcome, reason, revision_id }: ScriptActivation): Mark[] {
  if (outcome !== 'active') return []
  return [{ at_unix_ms, kind: 'revision', text: `revision ${shortOf(revision_id)} by ${reason}` }]
}

/** As much of a revision's hash as people compare. */
function shortOf(revisionId: string | null): string {
  return revisionId?.replace(/^sha256:/, '').slice(0, 12) ?? 'none'
}
