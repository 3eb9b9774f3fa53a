import type { Status } from '@guildhall/contract'
import type { Clock, Timer } from '../../../kernel/clock.ts'
import type { TaskHandle } from '../../../kernel/tasks/supervisor.ts'
import type { FeatureTask } from '../../feature.ts'
import type { ResetPass } from './resets.jobs.ts'

type SchedulerDeps = { clock: Clock; intervalMs: number; pass: ResetPass }

/** Makes the task that executes the schedules of boards, and its part of `/status`. */
export function createScheduler({ clock, intervalMs, pass }: SchedulerDeps) {
  let timer: Timer | undefined
  let self: TaskHandle | undefined
  const task: FeatureTask = {
    name: 'scheduler',
    intervalMs,
    needsDatabase: true,
    essential: true,
    /** Sleeps until the next board is due, but never longer than the interval. */
    async run(run) {
      timer?.cancel()
      await pass.run(run)
      const dueInMs = pass.dueInMs()
      if (dueInMs === undefined || dueInMs >= intervalMs) return
      timer = clock.after(Math.max(1, dueInMs), () => self?.wake())
    },
    started(handle) {
      self = handle
    },
  }
  return {
    task,
    failing: () => (pass.status().failing > 0 ? [task.name] : []),
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
