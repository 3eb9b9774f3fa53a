/**
 * Time, and everything that waits for it. This is the only place that reads a clock or sets a
 * timer, so that a test can hold both in its hand (see `clock.fake.ts`).
 */
export type Clock = {
  /** Wall time in Unix milliseconds: for stored times, expiry and schedules. */
  nowUnixMs(): number
  /** Milliseconds, with fractions, since some origin; never goes backwards: for intervals. */
  monotonicMs(): number
  /** Runs `task` once after `delayMs`. The timer does not keep the process alive. */
  after(delayMs: number, task: () => void): Timer
  /** Runs `task` every `intervalMs`. The timer does not keep the process alive. */
  every(intervalMs: number, task: () => void): Timer
  /**
   * Resolves after `delayMs`; rejects with an `AbortError` when `signal` aborts first. Unlike the
   * timers above it keeps the process alive: somebody waits for it.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

export type Timer = { cancel(): void }

export function createSystemClock(): Clock {
  return {
    nowUnixMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after(delayMs, task) {
      const handle = setTimeout(task, delayMs).unref()
      return { cancel: () => clearTimeout(handle) }
    },
    every(intervalMs, task) {
      const handle = setInterval(task, intervalMs).unref()
      return { cancel: () => clearInterval(handle) }
    },
    sleep(delayMs, signal) {
      // Loaded by those alone who sleep.
      const { setTimeout: sleepFor } = getBuiltinModule('node:timers/promises')
      return sleepFor(delayMs, undefined, signal ? { signal } : {})
    },
  }
}

const { getBuiltinModule } = process
const { bigint: processNanoseconds } = process.hrtime

/** Milliseconds, with fractions, that all threads of this process count alike. */
export function processMs(): number {
  return Number(processNanoseconds()) / 1e6
}

/**
 * Runs `task` once when the present turn of the event loop has ended: the natural moment to flush
 * what was collected during the turn (a batch of reads, a group of commits, a socket's frames).
 */
export function atEndOfTurn(task: () => void): void {
  setImmediate(task)
}

/**
 * Resolves after whatever has arrived by now was served: for the steps of work that nobody expects
 * at once, so that those who do wait for no more than one step of it. The end of a turn comes
 * before the next look at the sockets, hence two of them.
 */
export function afterOthers(): Promise<void> {
  return new Promise((resolve) => atEndOfTurn(() => atEndOfTurn(resolve)))
}
