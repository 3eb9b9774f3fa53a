import { lostRows, rowQueue } from '../../kernel/batching/row-queue.ts'
import { defineFeature, mount } from '../feature.ts'
import { scriptLogFunctions } from './script-logs.script.ts'
import { createScriptLogs, type ScriptLogsDeps } from './script-logs.service.ts'
import { type LogRow, scriptLogsStore } from './script-logs.store.ts'

type ScriptLogsFeatureDeps = Omit<ScriptLogsDeps, 'queue' | 'retentionDays'> & {
  config: {
    logs: {
      match_logs_max_queue_items: number
      match_logs_retention_days: number
      flush_batch_items: number
      flush_interval_ms: number
    }
  }
}

/** Lines that the game's script writes, and what operators read of them. */
export function scriptLogsFeature(deps: ScriptLogsFeatureDeps) {
  const { db } = deps
  const config = deps.config.logs
  const queue = rowQueue<LogRow>(deps, {
    name: 'script_logs',
    capacity: config.match_logs_max_queue_items,
    write: (rows) => scriptLogsStore.insert(db, rows),
  })
  const log = deps.log.component('script')
  const retentionDays = config.match_logs_retention_days
  const logs = createScriptLogs({ ...deps, log, queue, retentionDays })
  const { write, page, count, prune } = logs
  let lines = 0
  return defineFeature(
    {
      routes: mount({
        scriptLogs: {
          list: ({ principal, query }) => logs.list(principal, query),
          search: ({ principal, query }) => logs.search(principal, query),
          get: ({ principal, params }) => logs.get(principal, params.log_id),
        },
      }),
      script: scriptLogFunctions(logs, () => {
        lines += 1
      }),
      queues: queue === undefined ? [] : [queue],
      pruners: { script_logs: prune },
      crash: { script_logs: { not: 'written after the answer: a crash may lose the last ones' } },
      counters: () => ({
        script_log_lines_total: lines,
        script_log_dropped_total: lostRows(queue),
      }),
    },
    { write, page, count },
  )
}
