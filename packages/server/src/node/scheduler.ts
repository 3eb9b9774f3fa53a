import type { Status } from '@guildhall/contract'
import type { Leases } from '../database/jobs/leases.ts'
import { createResetPass } from '../features/leaderboards/leaderboards.resets.jobs.ts'
import type { Resets } from '../features/leaderboards/leaderboards.resets.ts'
import type { Timer } from '../kernel/clock.ts'
import type { Supervisor } from '../kernel/tasks/supervisor.ts'
import type { Shared } from './shared.ts'

export type Scheduler = ReturnType<typeof createScheduler>

type SchedulerDeps = Shared & { leases: Leases; resets: Resets }

/** Executes the schedules of boards, on one node of a deployment at a time. */
export function createScheduler(deps: SchedulerDeps) {
  const { db, clock, config, leases, resets } = deps
  const log = deps.log.component('scheduler')
  const lease = config.scheduler.enabled ? leases.of('boards') : undefined
  const pass = createResetPass({ db, clock, log, resets, lease })
  return {
    /**
     * Does what fell due while no node was there. Where another node holds the lease it is that
     * one's to do, and nobody waits for it.
     */
    async catchUp(signal: AbortSignal): Promise<void> {
      await resets.prepare()
      await pass.run({ signal, progress: () => undefined })
    },
    /** Sleeps until the next board is due, but never longer than the configured interval. */
    start(supervisor: Supervisor) {
      let timer: Timer | undefined
      const task = supervisor.every('scheduler', config.scheduler.interval_ms, async (run) => {
        timer?.cancel()
        await pass.run(run)
        const dueInMs = pass.dueInMs()
        if (dueInMs !== undefined && dueInMs < config.scheduler.interval_ms) {
          timer = clock.after(Math.max(1, dueInMs), task.wake)
        }
      })
      return task
    },
    failingBoards: () => pass.status().failing,
    status(): Status['scheduler'] {
      const { leader, boards, failing, nextDueUnixMs } = pass.status()
      return {
        leader,
        boards_scheduled: boards,
        boards_failing: failing,
        next_due_at_unix_ms: nextDueUnixMs,
      }
    },
  }
}
