import type { Part, Wire } from '../part.ts'

/*
 * State     Event                                        Next
 * resting   nothing has arrived for idleMs; a wake-up    asking
 * asking    anything arrives                             resting
 *           nothing arrives in time                      the link is lost
 */

export const idleMsDefault = 10_000
/** How long a link has for a sign of life. */
const answerMs = 5_000
/**
 * The time is cut in two, with a question in each: the node answers two of a second and ignores
 * further ones, and a page that stood still reads what has arrived before the second one is over.
 */
const questions = 2

export type LivenessOptions = {
  /** 0 asks at wake-ups only. */
  idleMs: number
  /** Sends what the server answers at once. */
  ask(): void
  /** The link gives no sign of life. */
  lost(): void
}

/** Finds out that a link has been cut without a packet, such as by a change of networks. */
export function createLiveness({ host }: Wire, { idleMs, ask, lost }: LivenessOptions): Part {
  let arrivedMs = 0
  let isAsking = false
  let stopTimer = () => {}
  let stopWaking = () => {}

  function arrived(): void {
    arrivedMs = host.monotonicMs()
    if (isAsking) rest()
  }

  function rest(restMs = idleMs): void {
    isAsking = false
    stopTimer()
    // A timer for each arrival would cost more than looking at the time once in a while.
    const look = () => {
      const leftMs = arrivedMs + idleMs - host.monotonicMs()
      if (leftMs > 0) rest(leftMs)
      else askFor(questions)
    }
    if (idleMs > 0) stopTimer = host.startTimer(restMs, look)
  }

  function askFor(left: number): void {
    isAsking = true
    stopTimer()
    ask()
    const over = () => (left > 1 ? askFor(left - 1) : lost())
    stopTimer = host.startTimer(answerMs / questions, over)
  }

  function stop(): void {
    stopTimer()
    stopWaking()
    isAsking = false
  }

  return {
    opened({ channel }) {
      stop()
      channel.onArrival = arrived
      arrived()
      rest()
      stopWaking = host.onWake(() => {
        if (!isAsking) askFor(questions)
      })
    },
    lost: stop,
    closed: stop,
  }
}
