/**
 * Turns of the event loop without the event loop. A run has some hundred thousand of them and waits
 * for nothing outside of the process, so that looking at sockets and timers of the system would be
 * most of what it costs.
 */
export type Turns = {
  /** Ends turns until nothing is left to be done. */
  pass(): Promise<void>
  /** The event loop has its turns back. */
  end(): void
}

/** From here on what asks for the end of a turn waits for `pass`. */
export function takeTurns(): Turns {
  const { setImmediate: ofSystem } = globalThis
  let waiting: (() => void)[] = []
  const atEnd = (task: () => void): void => void waiting.push(task)
  Object.assign(globalThis, { setImmediate: atEnd })

  /**
   * Node.js comes to the next tick once all promises that are settled have been served; but a tick
   * that a tick asks for comes before them.
   */
  function endTurns(done: () => void): void {
    queueMicrotask(() => process.nextTick(endTurn, done))
  }

  function endTurn(done: () => void): void {
    const tasks = waiting
    waiting = []
    for (const task of tasks) task()
    if (tasks.length === 0) done()
    else endTurns(done)
  }

  return {
    pass: () => new Promise(endTurns),
    end() {
      Object.assign(globalThis, { setImmediate: ofSystem })
      for (const task of waiting) ofSystem(task)
    },
  }
}
