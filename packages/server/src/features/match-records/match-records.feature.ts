import { rowQueue } from '../../kernel/batching/row-queue.ts'
import type { Log } from '../../kernel/log/log.ts'
import { defineFeature, mount } from '../feature.ts'
import { matchesCheck } from './match-records.checks.store.ts'
import { createMatchRecorder } from './match-records.recorder.ts'
import { createMatchRecords, type MatchRecordsDeps } from './match-records.service.ts'
import { matchRecordsStore, type RecordRow } from './match-records.store.ts'

type Own = Omit<MatchRecordsDeps, 'queue' | 'retentionDays' | 'logs' | 'slices' | 'lag'>

type MatchRecordsFeatureDeps = Own & {
  log: Log
  config: {
    logs: {
      matches_max_queue_items: number
      matches_retention_days: number
      flush_batch_items: number
      flush_interval_ms: number
    }
  }
  scriptLogs: MatchRecordsDeps['logs']
  lag: MatchRecordsDeps['lag']
  telemetry: MatchRecordsDeps['slices'] & { slices: { finish(of: { match_id: string }): void } }
}

/** Records of matches: the gateway opens and closes them, operators read them. */
export function matchRecordsFeature(deps: MatchRecordsFeatureDeps) {
  const { db, scriptLogs, telemetry } = deps
  const config = deps.config.logs
  const queue = rowQueue<RecordRow>(deps, {
    name: 'matches',
    capacity: config.matches_max_queue_items,
    keyed: {
      keyOf: ({ match_id }) => match_id,
      // Of open matches there are as many as rooms.
      isHeld: ({ closed_at_unix_ms }) => closed_at_unix_ms === null,
    },
    // What has changed since the row began to wait is written with it.
    write: (rows) => matchRecordsStore.upsert(db, rows.map(recorder.newest)),
  })
  const write = (row: RecordRow) => queue?.add(row)
  const settled = (match_id: string) => telemetry.slices.finish({ match_id })
  const recorder = createMatchRecorder({ ...deps, write, settled })
  const records = createMatchRecords({
    ...deps,
    queue,
    retentionDays: config.matches_retention_days,
    logs: scriptLogs,
    slices: telemetry,
  })
  return defineFeature(
    {
      checks: [matchesCheck],
      routes: mount({
        matchRecords: {
          list: ({ principal, query }) => records.list(principal, query),
          get: ({ principal, params }) => records.get(principal, params.match_id),
          entries: ({ principal, params, query }) =>
            records.entries(principal, params.match_id, query),
        },
      }),
      queues: queue === undefined ? [] : [queue],
      pruners: { match_records: records.prune },
      crash: { match_records: 'matches' },
      async afterClaim() {
        const closed = await records.closeOrphans()
        if (closed > 0) deps.log.warn('closed matches of an earlier boot', { matches: closed })
      },
    },
    { recorder },
  )
}
