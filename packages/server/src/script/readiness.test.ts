import { describe, expect, it } from 'vitest'
import {
  advance,
  gateIsOpen,
  type Readiness,
  type ReadinessEvent,
  readinessNumber,
  readinessStates,
} from './readiness.ts'

/** The table of the specification: row, from, event, to. */
const rows: [number, Readiness['state'], ReadinessEvent, Readiness['state']][] = [
  [1, 'boot', 'nothing_to_run', 'no_script'],
  [2, 'boot', 'load_started', 'validating'],
  [2, 'no_script', 'load_started', 'validating'],
  [2, 'unavailable', 'load_started', 'validating'],
  [3, 'validating', 'candidate_accepted', 'activating'],
  [4, 'validating', 'candidate_missing', 'no_script'],
  [5, 'validating', 'candidate_rejected', 'unavailable'],
  [6, 'ready', 'load_started', 'ready'],
  [6, 'ready', 'candidate_rejected', 'ready'],
  [7, 'ready', 'candidate_accepted', 'activating'],
  [8, 'degraded', 'candidate_accepted', 'activating'],
  [8, 'degraded', 'load_started', 'degraded'],
  [9, 'activating', 'swapped', 'ready'],
  [10, 'activating', 'swap_failed_old_alive', 'ready'],
  [11, 'activating', 'swap_failed', 'degraded'],
  [12, 'ready', 'worker_failed', 'degraded'],
  [13, 'degraded', 'restarted', 'ready'],
  [14, 'degraded', 'restart_failed', 'degraded'],
  [15, 'degraded', 'circuit_opened', 'unavailable'],
  [16, 'unavailable', 'probe_succeeded', 'ready'],
]
const states: Readiness['state'][] = ['boot', ...readinessStates]
const events = [...new Set(rows.map(([, , event]) => event))]

describe('readiness', () => {
  it.each(rows)('[S-RDY-1] row %i: %s, %s, %s', (_row, from, event, to) => {
    const before: Readiness = { state: from, since_unix_millis: 1 }
    const since_unix_millis = from === to ? 1 : 2
    expect(advance(before, event, 2)).toEqual({ state: to, since_unix_millis })
  })

  it('[S-RDY-1] has no other transition', () => {
    const allowed = new Set(rows.map(([, from, event]) => `${from} ${event}`))
    for (const state of states) {
      for (const event of events) {
        const attempt = () => advance({ state, since_unix_millis: 1 }, event, 2)
        if (allowed.has(`${state} ${event}`)) expect(attempt).not.toThrow()
        else expect(attempt, `${state} ${event}`).toThrow('cannot happen')
      }
    }
  })

  it('[S-RDY-2] has a number for the metric', () => {
    expect(readinessStates.map(readinessNumber)).toEqual([0, 1, 2, 3, 4, 5])
    expect(readinessNumber('ready')).toBe(2)
    expect(readinessNumber('unavailable')).toBe(5)
  })

  it('[S-GATE-1] opens the gate of a node that requires a script only when it is ready', () => {
    expect(readinessStates.filter((state) => gateIsOpen(state, true))).toEqual(['ready'])
    expect(readinessStates.filter((state) => gateIsOpen(state, false))).toEqual(readinessStates)
  })
})
