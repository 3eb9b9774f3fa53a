import { atEndOfTurn } from '../clock.ts'

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
  /**
   * The most runs under way, 1 if not given. With several they share what waits, so that one
   * prepares its work while the others wait for a disk.
   */
  runsMax?: number
  /**
   * Begins a run when those of other combiners leave room for it; at once if not given. What comes
   * until then joins the run.
   */
  inTurn?: ((run: () => Promise<void>) => Promise<void>) | undefined
}

type Call<T, R> = { item: T; resolve: (value: R) => void; reject: (error: unknown) => void }

/**
 * Turns many small calls into few large ones: calls that are made in one turn of the event loop, or
 * while no further run may begin, share the next run. Usually there is one at a time, so that a row
 * which everybody writes is not contended, and throughput grows with the load.
 *
 * @example
 * const addSession = createCombiner({ run: insertSessions, itemsMax: 256 })
 * await addSession({ id, account_id })
 */
export function createCombiner<T, R>(options: CombinerOptions<T, R>): (item: T) => Promise<R> {
  const { run, itemsMax, runsMax = 1, inTurn = (work) => work() } = options
  const waiting: Call<T, R>[] = []
  let underWay = 0
  let isAwaitingTurn = false

  /** At the end of a turn also after a run, so that those whom it answered can join the next. */
  function runNext(): void {
    if (isAwaitingTurn || underWay === runsMax || waiting.length === 0) return
    isAwaitingTurn = true
    atEndOfTurn(() => {
      isAwaitingTurn = false
      const parts = runsMax - underWay
      underWay += 1
      const ended = inTurn(async () => {
        if (waiting.length === 0) return
        const share = Math.ceil(waiting.length / parts)
        await runOnce(waiting.splice(0, Math.min(share, itemsMax)))
      })
      void ended.then(() => {
        underWay -= 1
        runNext()
      })
      runNext()
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
      runNext()
    })
  }
}

function settle<T, R>(call: Call<T, R>, result: CombinedResult<R> | undefined): void {
  if (result?.ok) call.resolve(result.value)
  else call.reject(result?.error)
}
