import type { Clock } from '../clock.ts'
import type { Log } from '../log/log.ts'

/**
 * Whether the wall clocks can be believed: the node's, and that of its database, if it is another.
 * What is deleted or reset because of a glitch would be gone also when the clock is right again.
 */
export type ClockWatch = {
  /** Looks for a jump of the node's clock; to be called every second. */
  check(): void
  /**
   * Compares the node's clock with the database's and looks for a jump of the latter. Answers how
   * far the database's is ahead at least, in milliseconds; negative when it is behind.
   */
  compare(databaseUnixMs: () => Promise<number>): Promise<number>
  /** Something was stored at this time already, so the clock is wrong until it has passed it. */
  expectPast(recordedUnixMs: number): void
  /** Whether retention and scheduled resets wait. */
  onHold(): boolean
  /** Whether somebody should look at the clocks. */
  doubtful(): boolean
  /** Jumps since the start. */
  jumps(): number
}

/** Thrown at the start of a node whose clock is wrong. */
export class ClockUnfit extends Error {
  override readonly name = 'ClockUnfit'
}

/** A clock that is set by as much as this did not drift there, in milliseconds. */
const jumpMinMs = 30_000
/** What a jump forward makes fall due at once may have to wait, in milliseconds. */
const farForwardMs = 3_600_000
const holdMs = 600_000
/** Differences between two clocks, in milliseconds. */
const differenceDoubtfulMs = 2000
const differenceMaxMs = 60_000

export function createClockWatch({ clock, log }: { clock: Clock; log: Log }): ClockWatch {
  const own = createTrack()
  const database = createTrack()
  let jumps = 0
  let holdUntilMs = Number.NEGATIVE_INFINITY
  let pastUnixMs = Number.NEGATIVE_INFINITY
  let differenceMs = 0

  function noteJump(whose: 'node' | 'database', byMs: number): void {
    if (Math.abs(byMs) <= jumpMinMs) return
    jumps += 1
    const waits = byMs > farForwardMs
    if (waits) holdUntilMs = clock.monotonicMs() + holdMs
    log.warn('a wall clock jumped', { clock: whose, by_ms: Math.round(byMs), waits })
  }

  function noteDifference(ms: number): void {
    const wasDoubtful = isFar(differenceMs)
    differenceMs = ms
    if (isFar(ms) === wasDoubtful) return
    const fields = { database_ahead_ms: ms }
    if (wasDoubtful) log.info('the clocks of node and database agree again', fields)
    else log.warn('the clocks of node and database differ', fields)
  }

  function check(): void {
    const monotonicMs = clock.monotonicMs()
    noteJump('node', own.observe(clock.nowUnixMs(), monotonicMs, monotonicMs))
  }

  /** Looks first: the clock may have jumped since the last second. */
  function onHold(): boolean {
    check()
    return clock.monotonicMs() < holdUntilMs || clock.nowUnixMs() < pastUnixMs
  }

  check()
  return {
    check,
    async compare(databaseUnixMs) {
      const asked = { unixMs: clock.nowUnixMs(), monotonicMs: clock.monotonicMs() }
      const atUnixMs = await databaseUnixMs()
      noteJump('database', database.observe(atUnixMs, asked.monotonicMs, clock.monotonicMs()))
      // The answer was given at some time in between, so only what lies outside is a difference.
      const answeredUnixMs = clock.nowUnixMs()
      const ms = atUnixMs - clamp(atUnixMs, asked.unixMs, answeredUnixMs)
      noteDifference(ms)
      return ms
    },
    expectPast(recordedUnixMs) {
      if (clock.nowUnixMs() >= recordedUnixMs - differenceMaxMs) return
      pastUnixMs = recordedUnixMs
      const until = new Date(recordedUnixMs).toISOString()
      log.warn('the clock is behind what is stored; retention and resets wait', { until })
    },
    onHold,
    doubtful: () => onHold() || isFar(differenceMs),
    jumps: () => jumps,
  }
}

/**
 * @throws ClockUnfit when the node's clock differs too much from the database's to begin with
 */
export function expectSameTime(databaseAheadMs: number): void {
  if (Math.abs(databaseAheadMs) <= differenceMaxMs) return
  const seconds = Math.round(Math.abs(databaseAheadMs) / 1000)
  const direction = databaseAheadMs > 0 ? 'behind' : 'ahead of'
  throw new ClockUnfit(`the clock of this node is ${seconds} s ${direction} the database's`)
}

function isFar(differenceMs: number): boolean {
  return Math.abs(differenceMs) > differenceDoubtfulMs
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(Math.min(least, most), Math.min(Math.max(least, most), value))
}

/**
 * Follows the distance of a wall clock from the monotonic one. A reading that took a while says
 * only between which two values the distance is.
 */
function createTrack() {
  let last: { least: number; most: number } | undefined
  return {
    /** By how much, at least, the wall clock was set since the last reading. */
    observe(wallMs: number, askedMonotonicMs: number, answeredMonotonicMs: number): number {
      const before = last
      last = { least: wallMs - answeredMonotonicMs, most: wallMs - askedMonotonicMs }
      if (before === undefined) return 0
      if (last.least > before.most) return last.least - before.most
      return Math.min(0, last.most - before.least)
    },
  }
}
