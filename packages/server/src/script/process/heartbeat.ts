import type { Clock, Timer } from '../../kernel/clock.ts'
import { protocolTimes } from '../wire/limits.ts'

/**
 * Notices when the worker process has stopped to say that it is alive, and when its script's thread
 * has time but does not answer pings: then messages no longer get through, or nothing takes them.
 */
export type Heartbeat = {
  start(): void
  /** The process lives; `turns` is how often the event loop of its script has turned. */
  beat(turns: number): void
  ponged(): void
  stop(): void
}

type HeartbeatDeps = {
  clock: Clock
  ping(): void
  /** Called with the reason; the worker has failed. */
  missed(reason: string): void
}

export function createHeartbeat({ clock, ping, missed }: HeartbeatDeps): Heartbeat {
  const everyMs = protocolTimes.beatEveryMs
  let timer: Timer | undefined
  let lastLookMs = 0
  let silentMs = 0
  let turns = 0
  let turnsSeen = 0
  /** For how long the script's thread has had time for the present ping. */
  let deafMs = 0

  function look(): void {
    const nowMs = clock.monotonicMs()
    // When this thread itself was held up, beats may be waiting to be read: what counts is the time
    // that it has listened, not the time that has passed.
    const listenedMs = Math.min(nowMs - lastLookMs, everyMs * 2)
    lastLookMs = nowMs
    silentMs += listenedMs
    // A long slice, or a batch of them, leaves no time: nothing turns meanwhile.
    if (turns !== turnsSeen) deafMs += listenedMs
    turnsSeen = turns
    if (silentMs > protocolTimes.pongWithinMs) missed('it does not respond')
    else if (deafMs > protocolTimes.pongWithinMs) missed('its channel does not respond')
    else ping()
  }

  return {
    start() {
      lastLookMs = clock.monotonicMs()
      timer ??= clock.every(everyMs, look)
    },
    beat(seen) {
      silentMs = 0
      turns = seen
    },
    ponged() {
      deafMs = 0
    },
    stop: () => timer?.cancel(),
  }
}
