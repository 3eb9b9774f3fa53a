import { atEndOfTurn, type Clock, type Timer } from '../clock.ts'

/** A clock that stands still until it is moved. */
export type SteppedClock = Clock & {
  /**
   * Moves both clocks by `ms` and runs every timer that falls due, in order, each at its own
   * instant. Before the first timer and after each one, what was set in motion gets to run, so what
   * a timer started may itself set timers that still fall into the same advance.
   */
  advance(ms: number): Promise<void>
  /** Makes the wall clock jump, as an administrator or NTP would. Timers do not notice. */
  setWall(unixMs: number): void
  /** How many timers are waiting: a test can show that nothing was left behind. */
  timersWaiting(): number
}

type SteppedClockOptions = {
  startUnixMs: number
  /** Lets what a timer has set in motion run; a few turns of the event loop if not given. */
  turns?: () => Promise<void>
  /** Waits, beyond that, for what a timer has set in motion. */
  settled?: () => Promise<void>
}

type Waiting = { dueMs: number; order: number; task: () => void; intervalMs: number | undefined }

/** Turns of the event loop that are granted to what a timer set in motion. */
const turnsPerStep = 3

export function createSteppedClock({
  startUnixMs,
  turns = someTurns,
  settled,
}: SteppedClockOptions): SteppedClock {
  /** The next one last. */
  const waiting: Waiting[] = []
  let nowMs = 0
  let wallOriginUnixMs = startUnixMs
  let made = 0

  function start(delayMs: number, task: () => void, intervalMs?: number): Timer {
    const entry = { dueMs: nowMs + Math.max(0, delayMs), order: made++, task, intervalMs }
    put(entry)
    return {
      cancel() {
        const at = waiting.indexOf(entry)
        if (at >= 0) waiting.splice(at, 1)
      },
    }
  }

  function put(entry: Waiting): void {
    let [from, to] = [0, waiting.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (isBefore(entry, waiting[middle] ?? entry)) from = middle + 1
      else to = middle
    }
    waiting.splice(from, 0, entry)
  }

  /** Runs the next one. */
  function fire(entry: Waiting): void {
    nowMs = Math.max(nowMs, entry.dueMs)
    waiting.pop()
    if (entry.intervalMs !== undefined) {
      entry.dueMs += Math.max(1, entry.intervalMs)
      entry.order = made++
      put(entry)
    }
    entry.task()
  }

  const settle =
    settled === undefined
      ? turns
      : async (): Promise<void> => {
          await turns()
          await settled()
        }

  return {
    nowUnixMs: () => Math.floor(wallOriginUnixMs + nowMs),
    monotonicMs: () => nowMs,
    after: (delayMs, task) => start(delayMs, task),
    every: (intervalMs, task) => start(intervalMs, task, intervalMs),
    sleep: (delayMs, signal) => abortable(signal, (done) => start(delayMs, done)),
    timersWaiting: () => waiting.length,
    setWall(unixMs) {
      wallOriginUnixMs = unixMs - nowMs
    },
    async advance(ms) {
      await settle()
      const targetMs = nowMs + ms
      for (let next = waiting.at(-1); next; next = waiting.at(-1)) {
        if (next.dueMs > targetMs) break
        fire(next)
        await settle()
      }
      nowMs = targetMs
    },
  }
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < turnsPerStep; turn += 1) {
    await new Promise<void>((resolve) => atEndOfTurn(resolve))
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return (one.dueMs - other.dueMs || one.order - other.order) < 0
}

/** What `sleep` does, with a timer that `begin` makes. */
export function abortable(
  signal: AbortSignal | undefined,
  begin: (done: () => void) => Timer,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new AbortError(signal.reason))
    const timer = begin(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    })
    function stop(): void {
      timer.cancel()
      reject(new AbortError(signal?.reason))
    }
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** What the system's timers reject with. */
class AbortError extends Error {
  override readonly name = 'AbortError'
  readonly code = 'ABORT_ERR'

  constructor(cause: unknown) {
    super('The operation was aborted', { cause })
  }
}
