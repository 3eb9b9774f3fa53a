import type { Clock, Timer } from '../clock.ts'

/**
 * Runs `task` at start + laterMs + n * everyMs, for n from 1 on: one that runs late, or is held up,
 * does not delay those after it. Moments that have passed meanwhile are left out.
 */
export function startPulse(
  clock: Clock,
  { everyMs, laterMs = 0 }: { everyMs: number; laterMs?: number },
  task: () => void,
): Timer {
  const startMs = clock.monotonicMs() + laterMs
  let n = 0
  let timer: Timer | undefined

  function plan(): void {
    const nowMs = clock.monotonicMs()
    // Timers of whole milliseconds may go off a little early.
    n = Math.max(n + 1, Math.floor((nowMs - startMs) / everyMs) + 1)
    timer = clock.after(Math.max(0, startMs + n * everyMs - nowMs), () => {
      plan()
      task()
    })
  }

  plan()
  return { cancel: () => timer?.cancel() }
}
