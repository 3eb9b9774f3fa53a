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
type Verdict<T, R> = { call: Call<T, R>; result: CombinedResult<R> }

/**
 * Calls answered in one turn. What callers do with an answer may take longer than the run took; in
 * the turns between, the next run begins, its statements are sent, and their answers are heard.
 */
const answersPerTurn = 16

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
  let verdicts: Verdict<T, R>[] = []

  /** Also after a run, so that those whom it answered can join the next one. */
  function runAtEndOfTurn(): void {
    underWay = true
    atEndOfTurn(() => {
      const calls = waiting.slice(0, itemsMax)
      waiting = waiting.slice(itemsMax)
      void runOnce(calls).then((ended) => {
        const isAnswering = verdicts.length > 0
        verdicts.push(...ended)
        if (!isAnswering) answer()
        underWay = false
        if (waiting.length > 0) runAtEndOfTurn()
      })
    })
  }

  function answer(): void {
    for (const { call, result } of verdicts.slice(0, answersPerTurn)) settle(call, result)
    verdicts = verdicts.slice(answersPerTurn)
    if (verdicts.length > 0) atEndOfTurn(answer)
  }

  async function runOnce(calls: readonly Call<T, R>[]): Promise<Verdict<T, R>[]> {
    try {
      const results = await run(calls.map((call) => call.item))
      if (results.length !== calls.length) throw new Error('a combined run lost some results')
      return calls.map((call, index) => ({ call, result: results[index] as CombinedResult<R> }))
    } catch (error) {
      return calls.map((call) => ({ call, result: { ok: false, error } }))
    }
  }

  return (item) => {
    return new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!underWay) runAtEndOfTurn()
    })
  }
}

function settle<T, R>(call: Call<T, R>, result: CombinedResult<R>): void {
  if (result.ok) call.resolve(result.value)
  else call.reject(result.error)
}
