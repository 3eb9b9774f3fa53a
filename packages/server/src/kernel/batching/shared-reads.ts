import { atEndOfTurn } from '../clock.ts'

type Read<W, T> = { request: W; answer: PromiseWithResolvers<T> }

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
  read: (request: W) => Promise<T>,
): (key: string, request: W) => Promise<T> {
  const waiting = new Map<string, Read<W, T>>()
  const underWay = new Set<string>()

  /** Each read is a task of its own, so that one answer need not wait for the others' reads. */
  function beginSoon(key: string): void {
    atEndOfTurn(() => {
      const next = waiting.get(key)
      if (next !== undefined && !underWay.has(key)) void begin(key, next)
    })
  }

  async function begin(key: string, { request, answer }: Read<W, T>): Promise<void> {
    waiting.delete(key)
    underWay.add(key)
    try {
      answer.resolve(await read(request))
    } catch (error) {
      answer.reject(error)
    } finally {
      underWay.delete(key)
      if (waiting.has(key)) beginSoon(key)
    }
  }

  return (key, request) => {
    let next = waiting.get(key)
    if (next === undefined) {
      next = { request, answer: Promise.withResolvers() }
      waiting.set(key, next)
      if (!underWay.has(key)) beginSoon(key)
    }
    return next.answer.promise
  }
}
