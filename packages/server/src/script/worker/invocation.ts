import type { CallRecord } from '../wire/call-records.ts'
import { hookCode } from '../wire/hooks.ts'
import type { Output } from './output.ts'

/** One run of a handler, or what runs outside of all handlers. */
export type Invocation = {
  /** Undefined outside of the handlers: the script's own timers and sockets. */
  readonly call: CallRecord | undefined
  /**
   * running: its first slice computes; suspended: it waits, or computes after having waited;
   * settled: it has ended, or it was given up.
   */
  state: 'running' | 'suspended' | 'settled'
  readonly startedMs: number
  /** What its slices may use in total. */
  readonly deadlineMs: number
  cpuUs: number
  /** Counted against the limits of one invocation. */
  commands: number
  bodyBytes: number
  hostCalls: number
  hostCallsOpen: number
  /** What the node keeps of its answers to it: a reply of the same bytes does not travel. */
  answered: { readonly call: number; readonly bytes: Uint8Array } | undefined
  /** Whether it ended by an interrupt or its timeout: whatever it still calls raises `timeout`. */
  gaveUp: boolean
  /** Commands of a slice after the first, until it ends. */
  pending: Output | undefined
}

export function newInvocation(
  call: CallRecord | undefined,
  { startedMs, deadlineMs }: Pick<Invocation, 'startedMs' | 'deadlineMs'>,
): Invocation {
  return {
    call,
    state: call ? 'running' : 'suspended',
    startedMs,
    deadlineMs,
    cpuUs: 0,
    commands: 0,
    bodyBytes: 0,
    hostCalls: 0,
    hostCallsOpen: 0,
    answered: undefined,
    gaveUp: false,
    pending: undefined,
  }
}

type Deadlines = { readonly deadlineMs: number; readonly tickDeadlineMs: number }

export function deadlineOf(call: CallRecord, { deadlineMs, tickDeadlineMs }: Deadlines): number {
  const isTick = call.hook === hookCode.on_tick || call.hook === hookCode.state_sync
  return isTick ? tickDeadlineMs : deadlineMs
}

/** What its next slice may use. */
export function timeLeftMs({ deadlineMs, cpuUs }: Invocation): number {
  return deadlineMs - cpuUs / 1000
}

export function runSlice(slice: () => void): void {
  slice()
}
