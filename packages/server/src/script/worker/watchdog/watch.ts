import type { Clock, Timer } from '../../../kernel/clock.ts'
import { protocolTimes } from '../../wire/limits.ts'
import { type Control, hasOpenCalls, isAttached, sliceCounter, tick } from '../control.ts'
import type { WatchdogMessage } from './watchdog-protocol.ts'

/**
 * Watches one worker: that no slice runs on and on where the engine cannot interrupt it, and that
 * the thread answers pings while no slice runs.
 */
export type Watch = {
  start(): void
  stop(): void
  pong(n: number): void
  /** How many pings the thread has answered: so often its event loop has turned. */
  turns(): number
}

type WatchDeps = {
  control: Control
  clock: Clock
  deadlineMs: number
  post: (message: WatchdogMessage) => void
  /** Called at each look. */
  looked: () => void
  overdue: () => void
  unresponsive: () => void
}

export function createWatch(deps: WatchDeps): Watch {
  const { control, clock, deadlineMs, post } = deps
  const everyMs = Math.max(5, Math.min(25, deadlineMs / 4))
  const sliceLimitMs = deadlineMs + protocolTimes.graceMs
  let timer: Timer | undefined
  let lastLookMs = 0
  let counter = 0
  /** For how long the counter has been the same, as watched. */
  let unchangedMs = 0
  let sincePingMs = 0
  let pings = 0
  let turns = 0
  /** How long the present ping has been unanswered; undefined without one. */
  let unansweredMs: number | undefined

  function look(): void {
    tick(control)
    deps.looked()
    const nowMs = clock.monotonicMs()
    // When this thread itself was held up, so was the other one, or its answer is still to be read:
    // what counts is the time that this thread has watched, not the time that has passed.
    const watchedMs = Math.min(nowMs - lastLookMs, everyMs * 2)
    lastLookMs = nowMs
    if (isAttached(control)) {
      unchangedMs = 0
      if (unansweredMs !== undefined) unansweredMs = 0
      return
    }
    const seen = sliceCounter(control)
    if (seen !== counter) {
      counter = seen
      unchangedMs = 0
    } else unchangedMs += watchedMs
    if (isRunning()) {
      if (unansweredMs !== undefined) unansweredMs = 0
      if (unchangedMs > sliceLimitMs) deps.overdue()
      return
    }
    watchPing(watchedMs)
  }

  function watchPing(watchedMs: number): void {
    sincePingMs += watchedMs
    if (unansweredMs === undefined) {
      if (sincePingMs >= protocolTimes.pingEveryMs) ping()
      return
    }
    unansweredMs += watchedMs
    // What computes may be a slice of a call that waited on its own, unknown to the host.
    if (hasOpenCalls(control) && unansweredMs > sliceLimitMs) deps.overdue()
    else if (unansweredMs > protocolTimes.pongWithinMs) deps.unresponsive()
  }

  function ping(): void {
    if (unansweredMs !== undefined) return
    unansweredMs = 0
    sincePingMs = 0
    pings += 1
    post({ type: 'ping', n: pings })
  }

  function isRunning(): boolean {
    return sliceCounter(control) % 2 !== 0
  }

  return {
    start() {
      lastLookMs = clock.monotonicMs()
      timer ??= clock.every(everyMs, look)
    },
    stop: () => timer?.cancel(),
    pong(n) {
      if (n !== pings) return
      unansweredMs = undefined
      turns += 1
    },
    turns: () => turns,
  }
}
