import type { Database } from '../../database/database.ts'
import { rowQueue } from '../../kernel/batching/row-queue.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createHostSampler, type HostReaders } from '../../kernel/host/host-sampler.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import { defineFeature, mount } from '../feature.ts'
import { telemetryFunctions } from './telemetry.script.ts'
import { createTelemetry } from './telemetry.service.ts'
import { createSlices } from './telemetry.slices.ts'
import { type SliceRow, telemetryStore } from './telemetry.store.ts'

type TelemetryFeatureDeps = {
  db: Database
  clock: Clock
  ids: Pick<Ids, 'durable'>
  log: Log
  nodeId: string
  config: {
    logs: {
      telemetry_max_queue_items: number
      telemetry_retention_days: number
      flush_batch_items: number
      flush_interval_ms: number
    }
  }
  hostReaders?: HostReaders
}

const hostIntervalMs = 1000

/** The machine of this node, and what scripts count during parts of matches. */
export function telemetryFeature(deps: TelemetryFeatureDeps) {
  const { db } = deps
  const config = deps.config.logs
  const queue = rowQueue<SliceRow>(deps, {
    name: 'slices',
    capacity: config.telemetry_max_queue_items,
    write: (rows) => telemetryStore.insert(db, rows),
  })
  const slices = createSlices({ ...deps, closed: (row) => queue?.add(row) })
  const retentionDays = config.telemetry_retention_days
  const { list, get, ofMatch, count, prune } = createTelemetry({ ...deps, queue, retentionDays })
  const host = createHostSampler(deps.hostReaders)
  return defineFeature(
    {
      routes: mount({
        telemetry: {
          host: async () => host.known(),
          slices: ({ query }) => list(query),
          slice: ({ params }) => get(params.report_id),
        },
      }),
      script: telemetryFunctions(slices),
      tasks: [{ name: 'host-metrics', intervalMs: hostIntervalMs, run: host.sample }],
      queues: queue === undefined ? [] : [queue],
      pruners: { telemetry_slices: prune },
      crash: {
        telemetry_slices: { not: 'written after the answer: a crash may lose the last ones' },
      },
      /** What is still open when the node stops is written, too. */
      stop: async () => slices.finishAll(),
    },
    { slices, ofMatch, count, host: host.known },
  )
}
