import type { Clock } from '../../../kernel/clock.ts'
import type { Model } from '../model.ts'

/** Requests that are under way at the same time. */
const workersCount = 24
const idleMs = 1
/** Pause of a worker that got no answer. */
const unansweredMs = 100

export type Load = {
  /** Resolves when so many more operations were answered, or the load has ended. */
  answers(count: number): Promise<void>
  /** Each request is followed by a pause of so long; 0 for none, as at the beginning. */
  pace(pauseMs: number): void
  /** Lets requests end and begins no more. Rejects with the first answer that may not be. */
  stop(): Promise<void>
}

/** Keeps a model's operations coming. */
export function startLoad(model: Model, clock: Clock): Load {
  let stopped = false
  const atLeast: { count: number; resolve(): void }[] = []
  let done = 0
  let pauseMs = 0

  async function work(): Promise<void> {
    while (!stopped) {
      const operation = model.next()
      if (operation === undefined) await clock.sleep(idleMs)
      else if (await model.traffic.perform(operation)) done += 1
      else if (!stopped) await clock.sleep(unansweredMs)
      for (const { count, resolve } of atLeast) if (done >= count) resolve()
      if (pauseMs > 0 && !stopped) await clock.sleep(pauseMs)
    }
  }

  const workers = Promise.all(Array.from({ length: workersCount }, work)).finally(() => {
    stopped = true
    for (const { resolve } of atLeast) resolve()
  })
  // It rejects for whoever stops the load.
  workers.catch(() => {})

  return {
    answers: (count) =>
      stopped
        ? Promise.resolve()
        : new Promise((resolve) => void atLeast.push({ count: done + count, resolve })),
    pace(ms) {
      pauseMs = ms
    },
    async stop() {
      stopped = true
      await workers
    },
  }
}
