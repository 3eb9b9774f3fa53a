import { type InspectorNotification, type Runtime, Session } from 'node:inspector'
import { createContext, Script } from 'node:vm'
import type { Ended, EngineDeps, Guard } from '../engine.ts'

type GuardDeps = Pick<EngineDeps, 'isAttached' | 'interrupts' | 'ticks'> & {
  clock: Pick<EngineDeps['clock'], 'monotonicMs'>
  /** An interrupt skips every `finally`, also the one that ends the scope of an invocation. */
  abandon(): void
}

/**
 * Runs code that an endless loop must not hold: it is ended by an error that no code inside can
 * catch, and everything outside lives on. What runs alone is ended by the worker's watchdog, unless
 * its time is short, all else by one of the engine.
 *
 * A watchdog of the engine costs far more than a call, and its time is fixed when it is armed. One
 * guard therefore covers many calls: it goes off a quarter of the deadline (and a little) later
 * than the first call may last, and a call may still begin under it while its own whole deadline
 * fits. So no call is interrupted early, and none later than one and a half deadlines and 25 ms.
 */
export function createGuard({ abandon, clock, isAttached, interrupts, ticks }: GuardDeps): Guard {
  const slot: Slot = { work: () => {}, state: 'waiting', error: undefined }
  const runWithin = createWatchdog(slot)
  let beginUntilMs = 0

  function timeoutOf(deadlineMs: number): number {
    const timeoutMs = guardMs(deadlineMs)
    beginUntilMs = clock.monotonicMs() + timeoutMs - deadlineMs - timerErrorMs
    return timeoutMs
  }

  function run(deadlineMs: number, work: () => void): Ended {
    const timeoutMs = timeoutOf(deadlineMs)
    slot.work = work
    slot.state = 'waiting'
    if (isAttached()) runOnce(slot)
    const ended = runWithin(timeoutMs)
    if (ended === 'failed') throw slot.error
    if (ended === 'finished') return ended
    abandon()
    return 'interrupted'
  }

  return {
    mayBegin: (nowMs) => nowMs <= beginUntilMs,
    run,
    runAlone(deadlineMs, work) {
      // Before its first look, or for so short a time, the watchdog may come too late.
      const isReady = deadlineMs >= aloneMs && ticks() !== 0
      if (!isReady || isAttached()) return run(deadlineMs, work)
      interrupts.arm(timeoutOf(deadlineMs))
      try {
        work()
      } finally {
        // What is late by now is ended here.
        if (!interrupts.disarm()) for (;;);
      }
      return 'finished'
    },
    takeInterrupt: interrupts.take,
  }
}

type Slot = {
  work: () => void
  /** `running` to the end when it is interrupted, which skips every line behind. */
  state: 'waiting' | 'running' | 'finished' | 'failed'
  error: unknown
}

function runOnce(slot: Slot): void {
  slot.state = 'running'
  try {
    slot.work()
    slot.state = 'finished'
  } catch (error) {
    slot.error = error
    slot.state = 'failed'
  }
}

const contextName = 'guildhall:guard'
const expression = 'work()'

/**
 * Runs what the slot has, and interrupts it after a time. An inspector of this thread does so with
 * a timer of the engine; `vm` starts a thread each time, at eight times the cost. It steps in where
 * the inspector was not understood: its messages are JSON, which a script may have redefined.
 */
function createWatchdog(slot: Slot): (timeoutMs: number) => Slot['state'] {
  // A context of its own: the script cannot reach the function through its globals.
  const work = () => runOnce(slot)
  const context = createContext(Object.freeze({ work }), { name: contextName })
  const script = new Script(expression, { filename: contextName })
  const session = new Session()
  session.connect()
  const contextId = contextIdOf(session)
  const post = session.post.bind(session)
  const ways = [
    (timeout: number) => post('Runtime.evaluate', { expression, timeout, contextId }),
    (timeout: number) => script.runInContext(context, { timeout }),
  ]
  return (timeoutMs) => {
    for (let at = 0; at < ways.length && slot.state === 'waiting'; at += 1) {
      try {
        ways[at]?.(timeoutMs)
      } catch {
        // An interrupt by `vm`, or a message that could not be written: the slot says which.
      }
    }
    return slot.state
  }
}

function contextIdOf(session: Session): number {
  let found = 0
  const hear = ({
    params,
  }: InspectorNotification<Runtime.ExecutionContextCreatedEventDataType>) => {
    if (params.context.name === contextName) found = params.context.id
  }
  session.on('Runtime.executionContextCreated', hear)
  session.post('Runtime.enable')
  // While it is enabled, the engine collects what errors and the console would show.
  session.post('Runtime.disable')
  session.off('Runtime.executionContextCreated', hear)
  return found
}

/** For shorter deadlines the worker's watchdog comes too late too often on a busy machine. */
const aloneMs = 25

/** The watchdog's timer counts whole milliseconds and may go off up to one early. */
const timerErrorMs = 2

export function guardMs(deadlineMs: number): number {
  return Math.ceil(deadlineMs * 1.25 + 12.5)
}
