import { type Host, type HostOptions, runtimeHost } from '../host.ts'

/** A host whose clock, timers and random numbers a test moves; sockets and requests are real. */
export type FakeHost = Host & {
  /** Moves both clocks and runs what falls due, in order. */
  advance(ms: number): void
  /** Makes the wall clock alone jump. */
  jump(ms: number): void
  /** What `random` gives from now on. */
  randomNumber: number
  /** The network is back, or the page is shown again. */
  wake(): void
  timersWaiting(): number
}

export function createFakeHost(options: HostOptions = {}): FakeHost {
  const timers = new Set<{ dueMs: number; run: () => void }>()
  const wakeListeners = new Set<() => void>()
  let monotonicMs = 0
  let wallMs = 1_700_000_000_000
  const host: FakeHost = {
    ...runtimeHost(options),
    randomNumber: 0.5,
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    random: () => host.randomNumber,
    startTimer(ms, run) {
      const timer = { dueMs: monotonicMs + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    onWake(run) {
      wakeListeners.add(run)
      return () => wakeListeners.delete(run)
    },
    advance(ms) {
      const untilMs = monotonicMs + ms
      for (;;) {
        const [next] = [...timers].sort((one, other) => one.dueMs - other.dueMs)
        if (next === undefined || next.dueMs > untilMs) break
        timers.delete(next)
        wallMs += next.dueMs - monotonicMs
        monotonicMs = next.dueMs
        next.run()
      }
      wallMs += untilMs - monotonicMs
      monotonicMs = untilMs
    },
    jump(ms) {
      wallMs += ms
    },
    wake() {
      for (const run of [...wakeListeners]) run()
    },
    timersWaiting: () => timers.size,
  }
  return host
}
