import { describe, expect, it } from 'vitest'
import {
  afterFailedAttempt,
  afterFailure,
  afterStart,
  delayMs,
  firstRecovery,
  shownFailures,
} from './recovery.ts'

const limits = { restart_limit: 3, restart_backoff_ms: 100, restart_backoff_max_ms: 1000 }

describe('recovery', () => {
  it('[S-REC-3] restarts at once-doubling delays, up to the longest', () => {
    const delays = [0, 1, 2, 3, 4, 50].map((consecutiveFailures) =>
      delayMs({ ...firstRecovery, consecutiveFailures }, limits),
    )
    expect(delays).toEqual([100, 200, 400, 800, 1000, 1000])
  })

  it('[S-REC-3] counts failures within 30 s of a start, and forgets them after 30 s of health', () => {
    const started = afterStart(firstRecovery, 0)
    const early = afterFailure(started, 29_999, limits)
    expect(early.consecutiveFailures).toBe(1)
    const again = afterStart(early, 30_000)
    expect(shownFailures(again, 59_999)).toBe(1)
    expect(shownFailures(again, 60_000)).toBe(0)
    expect(afterFailure(again, 60_000, limits).consecutiveFailures).toBe(0)
    expect(afterFailure(again, 59_999, limits).consecutiveFailures).toBe(2)
  })

  it('[S-REC-4] opens the circuit at the limit, probes at the longest pace, and then forgives', () => {
    let recovery = afterFailure(afterStart(firstRecovery, 0), 1, limits)
    recovery = afterFailedAttempt(recovery, limits)
    expect(recovery).toMatchObject({ consecutiveFailures: 2, circuitOpen: false })
    recovery = afterFailedAttempt(recovery, limits)
    expect(recovery).toMatchObject({ consecutiveFailures: 3, circuitOpen: true })
    expect(delayMs(recovery, limits)).toBe(1000)
    recovery = afterFailedAttempt(recovery, limits)
    expect(recovery).toMatchObject({ consecutiveFailures: 4, circuitOpen: true })
    expect(afterStart(recovery, 5)).toMatchObject({ consecutiveFailures: 0, circuitOpen: false })
  })
})
