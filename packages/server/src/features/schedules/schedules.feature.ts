import type { Log } from '../../kernel/log/log.ts'
import { defineFeature } from '../feature.ts'
import { createSchedules, type SchedulesDeps, scheduleDue } from './schedules.jobs.ts'

type SchedulesFeatureDeps = Pick<SchedulesDeps, 'db' | 'clock' | 'onHold'> & {
  log: Log
  config: { scheduler: { enabled: boolean; interval_ms: number } }
  outbox: { add: SchedulesDeps['leave'] }
}

/** What the game's script runs by the clock: once for each due time, on one node. */
export function schedulesFeature({ config, outbox, ...deps }: SchedulesFeatureDeps) {
  const { enabled: mayRun, interval_ms: intervalMs } = config.scheduler
  const log = deps.log.component('schedules')
  const schedules = createSchedules({ ...deps, log, mayRun, intervalMs, leave: outbox.add })
  const { task, isOver, serve, stop } = schedules
  return defineFeature(
    {
      tasks: [task],
      events: [{ hook: scheduleDue, isOver }],
      crash: { script_schedules: { not: 'the load has no schedules; a script names them anew' } },
      stop,
    },
    { serve },
  )
}
