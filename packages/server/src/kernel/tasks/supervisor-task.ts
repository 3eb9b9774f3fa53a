import type { Clock, Timer } from '../clock.ts'
import type { ErrorJournal, IncidentCategory } from '../errors/error-journal.ts'
import { backoff } from './backoff.ts'

export type TaskBody = (run: TaskRun) => Promise<void> | void

/** One run of a task. */
export type TaskRun = {
  /** Aborts when the run should end: at shutdown, or because it made no progress. */
  readonly signal: AbortSignal
  /** Says that the run is getting on; a run that says nothing for long counts as stalled. */
  progress(): void
}

export type TaskState = 'waiting' | 'running' | 'backing_off' | 'stalled' | 'stopped'

export type TaskStatus = {
  name: string
  state: TaskState
  restarts: number
  last_run_unix_ms: number | null
  next_start_unix_ms: number | null
}

export type SupervisedTask = {
  wake(): void
  retry(): void
  status(): TaskStatus
  /** Since its first failure until it is well again; undefined while it is well. */
  failingForMs(): number | undefined
  /** Resolves when the present run has ended. */
  stop(): Promise<void>
}

type TaskOptions = {
  name: string
  intervalMs: number
  /** Whether one run should last until it is asked to end. */
  once: boolean
  body: TaskBody
  clock: Clock
  journal: Pick<ErrorJournal, 'record'>
}

type Run = {
  readonly abort: AbortController
  readonly startedMs: number
  progressMs: number
  watch: Timer | undefined
}

const restartFirstMs = 1000
const restartMaxMs = 60_000
const healthyAfterMs = 300_000
/** A loop that has not failed this long after its restart is well again. */
const settledAfterMs = 10_000
const stalledIntervals = 3
const stalledExtraMs = 30_000

/**
 * | state         | becomes                                                                 |
 * | ------------- | ----------------------------------------------------------------------- |
 * | `waiting`     | `running` when its interval is over or it is woken                      |
 * | `running`     | `waiting` when a run ended well, else `backing_off` or `stalled`        |
 * | `backing_off` | `running` after 1 s, doubling to 60 s, or when it is retried; again 1 s  |
 * |               | after 5 min of health                                                   |
 * | `stalled`     | `running` likewise; the run that was cancelled is not heard any more    |
 * | `stopped`     | nothing                                                                 |
 */
export function createTask(options: TaskOptions): SupervisedTask {
  const { name, intervalMs, once, body, clock, journal } = options
  const stalledMs = stalledIntervals * intervalMs + stalledExtraMs
  const delays = backoff(restartFirstMs, restartMaxMs)
  let state: TaskState = 'waiting'
  let current: Run | undefined
  let timer: Timer | undefined
  let wokenMeanwhile = false
  let restarts = 0
  let failingSinceMs: number | undefined
  let failedMs = 0
  let lastRunUnixMs: number | null = null
  let nextStartUnixMs: number | null = null
  let ended: () => void = () => undefined

  function wait(delayMs: number): void {
    nextStartUnixMs = clock.nowUnixMs() + delayMs
    timer = clock.after(delayMs, start)
  }

  function start(): void {
    timer?.cancel()
    const nowMs = clock.monotonicMs()
    const abort = new AbortController()
    const run: Run = { abort, startedMs: nowMs, progressMs: nowMs, watch: undefined }
    current = run
    state = 'running'
    lastRunUnixMs = clock.nowUnixMs()
    nextStartUnixMs = null
    wokenMeanwhile = false
    watch(run, stalledMs)
    void execute(run)
  }

  async function execute(run: Run): Promise<void> {
    const { signal } = run.abort
    const progress = () => {
      run.progressMs = clock.monotonicMs()
    }
    try {
      await body({ signal, progress })
      if (run === current) finish(run)
    } catch (error) {
      if (run === current) fail(run, { category: 'task', error })
    }
    if (run === current) ended()
  }

  function finish(run: Run): void {
    if (state === 'stopped') return
    if (once) {
      fail(run, { category: 'task_ended' })
      return
    }
    run.watch?.cancel()
    failingSinceMs = undefined
    state = 'waiting'
    wait(wokenMeanwhile ? 0 : intervalMs)
  }

  function fail(run: Run, what: { category: IncidentCategory; error?: unknown }): void {
    run.watch?.cancel()
    if (state === 'stopped') return
    const nowMs = clock.monotonicMs()
    if (nowMs - failedMs >= healthyAfterMs) delays.reset()
    failedMs = nowMs
    if (failingSinceMs === undefined || isSettled(run)) failingSinceMs = nowMs
    restarts += 1
    state = what.category === 'task_stalled' ? 'stalled' : 'backing_off'
    const place = 'error' in what ? {} : { place: name }
    journal.record({ component: name, ...what, ...place })
    wait(delays.next())
  }

  function isSettled(run: Run): boolean {
    return once && clock.monotonicMs() - run.startedMs >= settledAfterMs
  }

  function watch(run: Run, delayMs: number): void {
    run.watch = clock.after(delayMs, () => {
      const silentMs = clock.monotonicMs() - run.progressMs
      if (silentMs < stalledMs) return watch(run, stalledMs - silentMs)
      current = undefined
      fail(run, { category: 'task_stalled' })
      run.abort.abort(new Error('the task made no progress'))
    })
  }

  wait(0)
  return {
    wake() {
      if (state === 'running') wokenMeanwhile = true
      else if (state === 'waiting') start()
    },
    retry() {
      if (state === 'backing_off' || state === 'waiting') start()
    },
    status: () => ({
      name,
      state,
      restarts,
      last_run_unix_ms: lastRunUnixMs,
      next_start_unix_ms: nextStartUnixMs,
    }),
    failingForMs() {
      if (failingSinceMs === undefined) return undefined
      if (state === 'running' && current && isSettled(current)) return undefined
      return clock.monotonicMs() - failingSinceMs
    },
    stop() {
      const isRunning = state === 'running'
      timer?.cancel()
      current?.watch?.cancel()
      state = 'stopped'
      nextStartUnixMs = null
      if (!isRunning) return Promise.resolve()
      return new Promise((resolve) => {
        ended = resolve
        current?.abort.abort(new Error('the node is shutting down'))
      })
    },
  }
}
