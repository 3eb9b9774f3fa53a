import { atEndOfTurn } from './clock.ts'

/** How one item of a combined run ended. */
export type CombinedResult<R> = { ok: true; value: R } | { ok: false; error: unknown }

export type CombinerOptions<T, R> = {
  /**
   * Does the work of all items at once and answers in their order. When it throws, all of them
   * have failed.
   */
  run: (items: readonly T[]) => Promise<readonly CombinedResult<R>[]>
  /** The most items of one run. */
  itemsMax: number
}

type Call<T, R> = { item: T; resolve: (value: R) => void; reject: (error: unknown) => void }

/**
 * Turns many small calls into few large ones: calls that are made in one turn of the event loop, or
 * while a run is under way, share the next run. One run at a time, so that a row which everybody
 * writes is contended by nobody, and throughput grows with the load.
 *
 * @example
 * const addSession = createCombiner({ run: insertSessions, itemsMax: 256 })
 * await addSession({ id, account_id })
 */
export function createCombiner<T, R>(options: CombinerOptions<T, R>): (item: T) => Promise<R> {
  const { run, itemsMax } = options
  let waiting: Call<T, R>[] = []
  let underWay = false

  /** Also after a run, so that those whom it answered can join the next one. */
  function runAtEndOfTurn(): void {
    underWay = true
    atEndOfTurn(() => {
      const calls = waiting.slice(0, itemsMax)
      waiting = waiting.slice(itemsMax)
      void runOnce(calls).then(() => {
        underWay = false
        if (waiting.length > 0) runAtEndOfTurn()
      })
    })
  }

  async function runOnce(calls: readonly Call<T, R>[]): Promise<void> {
    try {
      const results = await run(calls.map((call) => call.item))
      if (results.length !== calls.length) throw new Error('a combined run lost some results')
      for (const [index, call] of calls.entries()) settle(call, results[index])
    } catch (error) {
      for (const call of calls) call.reject(error)
    }
  }

  return (item) => {
    return new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!underWay) runAtEndOfTurn()
    })
  }
}

function settle<T, R>(call: Call<T, R>, result: CombinedResult<R> | undefined): void {
  if (result?.ok) call.resolve(result.value)
  else call.reject(result?.error)
}
