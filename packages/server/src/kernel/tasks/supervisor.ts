import type { Clock } from '../clock.ts'
import type { ErrorJournal } from '../errors/error-journal.ts'
import type { Log } from '../log/log.ts'
import { within } from '../time/within.ts'
import {
  createTask,
  type SupervisedTask,
  type TaskBody,
  type TaskStatus,
} from './supervisor-task.ts'

/**
 * Keeps the node's background loops alive. A task that throws, ends without being asked or makes
 * no progress is journalled and started again; no task is ever given up.
 */
export type Supervisor = {
  /**
   * Runs `task` now, and again each time `intervalMs` has passed since it ended. The handle's
   * `wake` ends the wait early. `items` reports what the task itself tries again, one by one:
   * while that fails the task counts as failing, though its runs end well.
   */
  every(name: string, intervalMs: number, task: TaskBody, items?: SelfHealing): TaskHandle
  /**
   * Runs `task` until its signal aborts. It must call `progress` at least every `intervalMs`; one
   * that ends by itself is started again.
   */
  run(name: string, intervalMs: number, task: TaskBody): TaskHandle
  /** Shows a loop that heals itself, such as the write-behind queues, beside the tasks. */
  adopt(name: string, loop: SelfHealing): void
  status(): TaskStatus[]
  /** Tasks that are backing off or stalled, and for how long they have not been well. */
  failing(): FailingTask[]
  /** Asks all tasks to end; after `timeoutMs` it returns the names of those that have not. */
  stop(timeoutMs: number): Promise<string[]>
}

export type TaskHandle = {
  /** Starts a waiting task now; a running one runs once more as soon as it has ended. */
  wake(): void
  /** Starts a task now that waits or backs off, because what it failed for want of is back. */
  retry(): void
}

export type SelfHealing = { failingForMs(): number; failures(): number }

export type FailingTask = { name: string; forMs: number }

type SupervisorDeps = {
  clock: Clock
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  /** Called with the time of each run, in milliseconds. */
  observe?: ((name: string, durationMs: number) => void) | undefined
}

export function createSupervisor(deps: SupervisorDeps): Supervisor {
  const { clock, log, journal, observe } = deps
  const tasks = new Map<string, SupervisedTask>()
  const adopted = new Map<string, SelfHealing>()
  const itemsOf = new Map<string, SelfHealing>()

  function add(name: string, intervalMs: number, how: { once: boolean; body: TaskBody }) {
    if (tasks.has(name) || adopted.has(name)) throw new Error(`two tasks are named ${name}`)
    const body = observe === undefined ? how.body : measured(how.body, { clock, observe, name })
    const task = createTask({ name, intervalMs, ...how, body, clock, journal })
    tasks.set(name, task)
    return { wake: task.wake, retry: task.retry }
  }

  return {
    every(name, intervalMs, body, items) {
      if (items !== undefined) itemsOf.set(name, items)
      return add(name, intervalMs, { once: false, body })
    },
    run: (name, intervalMs, body) => add(name, intervalMs, { once: true, body }),
    adopt(name, loop) {
      if (tasks.has(name) || adopted.has(name)) throw new Error(`two tasks are named ${name}`)
      adopted.set(name, loop)
    },
    status() {
      const own = [...tasks].map(([name, task]) => withItems(task.status(), itemsOf.get(name)))
      return [...own, ...[...adopted].map(([name, loop]) => statusOf(name, loop))]
    },
    failing() {
      const own = [...tasks].map(([name, task]) => ({ name, forMs: task.failingForMs() }))
      const items = [...itemsOf].map(([name, loop]) => ({ name, forMs: loop.failingForMs() }))
      const others = [...adopted].map(([name, loop]) => ({ name, forMs: loop.failingForMs() }))
      const longest = new Map<string, number>()
      for (const { name, forMs } of [...own, ...[...items, ...others].filter(isFailing)]) {
        if (forMs !== undefined) longest.set(name, Math.max(forMs, longest.get(name) ?? 0))
      }
      return Array.from(longest, ([name, forMs]) => ({ name, forMs }))
    },
    async stop(timeoutMs) {
      const running = new Set(tasks.keys())
      const ended = [...tasks].map(async ([name, task]) => {
        await task.stop()
        running.delete(name)
      })
      await within(clock, timeoutMs, Promise.all(ended))
      const late = [...running]
      if (late.length > 0) log.warn('tasks did not end in time', { tasks: late })
      return late
    },
  }
}

/** A loop that heals itself has been failing for no time when it is well. */
function isFailing({ forMs }: FailingTask): boolean {
  return forMs > 0
}

function statusOf(name: string, loop: SelfHealing): TaskStatus {
  const state = loop.failingForMs() > 0 ? 'backing_off' : 'waiting'
  const restarts = loop.failures()
  return { name, state, restarts, last_run_unix_ms: null, next_start_unix_ms: null }
}

function withItems(status: TaskStatus, items: SelfHealing | undefined): TaskStatus {
  if (items === undefined) return status
  const isWell = status.state === 'waiting' || status.state === 'running'
  return {
    ...status,
    state: isWell && items.failingForMs() > 0 ? 'backing_off' : status.state,
    restarts: status.restarts + items.failures(),
  }
}

type Measuring = {
  clock: Pick<Clock, 'monotonicMs'>
  observe: (name: string, durationMs: number) => void
  name: string
}

function measured(body: TaskBody, { clock, observe, name }: Measuring): TaskBody {
  return async (run) => {
    const startMs = clock.monotonicMs()
    try {
      await body(run)
    } finally {
      observe(name, clock.monotonicMs() - startMs)
    }
  }
}
