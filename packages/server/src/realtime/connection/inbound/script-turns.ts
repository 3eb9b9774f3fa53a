import type { ScriptState } from '../../play.port.ts'

/** A connection with envelopes that wait for the script. */
export type ScriptWaiter = {
  /** Gives the script the next one. False when none is left, or none may go at the moment. */
  serveScript(): boolean
}

/**
 * The order in which the script gets what had to wait: one envelope of each connection in turn, so
 * that a connection that sends much delays its own envelopes and not those of the others.
 */
export type ScriptTurns = {
  await(waiter: ScriptWaiter): void
  forget(waiter: ScriptWaiter): void
}

export function createScriptTurns(
  script: Pick<ScriptState, 'congested' | 'onceDrained'>,
): ScriptTurns {
  /** In the order of their turns. */
  const waiters = new Set<ScriptWaiter>()
  let isServing = false
  let awaitsDrain = false

  function serve(): void {
    // A call may settle while it is made, which lets its connection wait for the next turn.
    if (isServing) return
    isServing = true
    try {
      while (!script.congested()) {
        const next = waiters.values().next().value
        if (next === undefined) return
        waiters.delete(next)
        if (next.serveScript()) waiters.add(next)
      }
    } finally {
      isServing = false
    }
    if (awaitsDrain) return
    awaitsDrain = true
    script.onceDrained(() => {
      awaitsDrain = false
      serve()
    })
  }

  return {
    await(waiter) {
      waiters.add(waiter)
      serve()
    },
    forget: (waiter) => void waiters.delete(waiter),
  }
}
