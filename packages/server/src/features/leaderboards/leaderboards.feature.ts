import type { Database, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Mutate, MutateMany } from '../../kernel/mutation.ts'
import type { Lease } from '../../kernel/tasks/lease.ts'
import { defineFeature, mount } from '../feature.ts'
import { createBoardsCheck } from './leaderboards.checks.store.ts'
import { leaderboardHandlers } from './leaderboards.routes.ts'
import { leaderboardFunctions } from './leaderboards.script.ts'
import { createLeaderboards } from './leaderboards.service.ts'
import { createResetPass } from './resets/resets.jobs.ts'
import { createResets, type ResetsDeps } from './resets/resets.ts'
import { createScheduler } from './resets/scheduler.ts'
import { createLeaderboardPruners } from './retention/retention.jobs.ts'

type LeaderboardsFeatureDeps = {
  db: Database
  clock: Clock
  log: Log
  mutate: Mutate<Transaction>
  mutateMany: MutateMany<Transaction>
  config: {
    leaderboards: { execute_reset_schedules: boolean; closed_periods_kept: number }
    /** Pause between two looks at the schedules. */
    scheduler: { interval_ms: number }
  }
  /** One node of a deployment executes schedules; absent on one that may not. */
  jobLease(name: string): Lease<Transaction> | undefined
  tournaments: Pick<ResetsDeps, 'periodClosed'>
} & Pick<ResetsDeps, 'onHold'>

/** Boards with their records, and the resets of those that have a schedule. */
export function leaderboardsFeature({ jobLease, tournaments, ...given }: LeaderboardsFeatureDeps) {
  const { onHold, log } = given
  const config = given.config.leaderboards
  const intervalMs = given.config.scheduler.interval_ms
  const { periodClosed } = tournaments
  const deps = { ...given, config, intervalMs, lease: jobLease('boards'), periodClosed }
  const execute = config.execute_reset_schedules
  const resets = createResets({ ...deps, log: log.component('leaderboards'), execute })
  const boards = createLeaderboards({
    ...deps,
    cursorAfter: resets.cursorAfter,
    resetDue: resets.resetDue,
    mayReset: () => execute && !onHold(),
  })
  const pass = createResetPass({ ...deps, log: log.component('scheduler'), resets })
  const scheduler = createScheduler({ ...deps, pass })
  return defineFeature(
    {
      routes: mount({ leaderboards: leaderboardHandlers(boards) }),
      script: leaderboardFunctions(boards),
      pruners: { leaderboard_periods: createLeaderboardPruners(deps).periods },
      checks: [createBoardsCheck(execute)],
      crash: {
        leaderboards: 'leaderboards',
        leaderboard_periods: 'doctor',
        leaderboard_records: 'leaderboards',
        leaderboard_blocks: 'doctor',
      },
      tasks: [scheduler.task],
      async catchUp(signal) {
        await resets.prepare()
        await pass.run({ signal, progress: () => undefined })
      },
      failing: scheduler.failing,
    },
    { resets, schedules: scheduler.status },
  )
}
