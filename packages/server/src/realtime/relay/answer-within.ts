import type { Clock } from '../../kernel/clock.ts'

/** An answer of another node that is late after `ms`; the first one given counts. */
export function answerWithin<Answer>(clock: Pick<Clock, 'after'>, ms: number, late: () => void) {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const timer = clock.after(ms, late)
  return {
    promise,
    answer(value: Answer): void {
      timer.cancel()
      resolve(value)
    },
  }
}
