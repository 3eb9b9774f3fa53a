import type { Clock } from '../clock.ts'

/** What `within` resolves to when the time is over. */
export const late: unique symbol = Symbol('late')

/**
 * What `work` comes to if that takes at most `ms`, else `late`; the work itself goes on. It keeps
 * the process alive until then, because somebody waits for it.
 *
 * @throws whatever `work` rejects with in time
 * @example
 * if ((await within(clock, 5000, queue.written())) === late) log.warn('rows were not written')
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
): Promise<T | typeof late> {
  const done = new AbortController()
  const timeUp = clock.sleep(Math.max(0, ms), done.signal).then((): typeof late => late)
  try {
    return await Promise.race([work, timeUp])
  } finally {
    done.abort(late)
  }
}
