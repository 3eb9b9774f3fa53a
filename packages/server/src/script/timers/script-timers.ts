import type { Clock, Timer } from '../../kernel/clock.ts'
import { limits } from '../wire/limits.ts'

type Deps = {
  clock: Clock
  /** Calls the worker for a timer that went off. */
  run(timer: number, settle: () => void): void
  /** Called with each timer that the script sets. */
  isSet(timer: number): void
  /** Counts a run that was due while the one before had not settled. */
  skipped(): void
  /** While true, runs of repeating timers are skipped. */
  isBusy(): boolean
  /** How many rooms with state there are. */
  rooms(): number
}

/** A timer of the script: once after a time, or again and again. */
type TimerRequest = { timer: number; ms: number; repeats: boolean }

/** What is kept for a script, with room for those that it has just cancelled. */
const timersMax = limits.timers * 2
/** What is kept besides for each room with state: also those of its syncs and checkpoints. */
const timersOfRoom = limits.timersOfRoom * 2

/** The timers of one worker's script. The node keeps the time; a run is a call. */
export function createScriptTimers({ clock, run, isSet, skipped, isBusy, rooms }: Deps) {
  const running = new Map<number, Timer>()
  /** Those of the top level, which wait for on_start. */
  let waiting: TimerRequest[] = []
  let state: 'loading' | 'running' | 'ended' = 'loading'

  function once({ timer, ms }: TimerRequest): Timer {
    return clock.after(ms, () => {
      running.delete(timer)
      run(timer, () => {})
    })
  }

  /** A run that is due while the one before has not settled is skipped. */
  function again({ timer, ms }: TimerRequest): Timer {
    let open = false
    return clock.every(ms, () => {
      if (open || isBusy()) {
        skipped()
        return
      }
      open = true
      run(timer, () => {
        open = false
      })
    })
  }

  function begin(request: TimerRequest): void {
    if (running.size >= timersMax + rooms() * timersOfRoom) return
    running.set(request.timer, request.repeats ? again(request) : once(request))
  }

  return {
    set(request: TimerRequest): void {
      isSet(request.timer)
      if (state === 'running') begin(request)
      else if (state === 'loading' && waiting.length < timersMax) waiting.push(request)
    },
    cancel(timer: number): void {
      running.get(timer)?.cancel()
      running.delete(timer)
      waiting = waiting.filter((request) => request.timer !== timer)
    },
    /** The top level has ended: timers that are set from here on begin at once. */
    loaded(): void {
      state = 'running'
    },
    /** on_start has settled: the timers that the top level has set begin. */
    start(): void {
      const requests = waiting
      waiting = []
      for (const request of requests) begin(request)
    },
    /** The script sets and runs no timer any more. */
    end(): void {
      state = 'ended'
      for (const timer of running.values()) timer.cancel()
      running.clear()
      waiting = []
    },
  }
}
