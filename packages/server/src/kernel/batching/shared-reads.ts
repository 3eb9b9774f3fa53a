import { atEndOfTurn } from '../clock.ts'

/**
 * Makes one read of those that are asked for under the same key in one turn of the event loop, or
 * while such a read is under way: they share the next one. So an answer is never older than its
 * question, and a page that everybody looks at is read once for all of them.
 *
 * @example
 * const page = sharedReads((board: string) => store.firstPage(board))
 * await page('monthly', 'monthly')
 */
export function sharedReads<W, T>(
  read: (wish: W) => Promise<T>,
): (key: string, wish: W) => Promise<T> {
  /** The read that is still to begin, by its key. */
  const waiting = new Map<string, PromiseWithResolvers<T>>()
  const underWay = new Set<string>()

  function begin(key: string, wish: W): void {
    const next = waiting.get(key)
    if (next === undefined || underWay.has(key)) return
    waiting.delete(key)
    underWay.add(key)
    read(wish)
      .then(next.resolve, next.reject)
      .finally(() => {
        underWay.delete(key)
        if (waiting.has(key)) atEndOfTurn(() => begin(key, wish))
      })
  }

  return (key, wish) => {
    const known = waiting.get(key)
    if (known !== undefined) return known.promise
    const next = Promise.withResolvers<T>()
    waiting.set(key, next)
    if (!underWay.has(key)) atEndOfTurn(() => begin(key, wish))
    return next.promise
  }
}
