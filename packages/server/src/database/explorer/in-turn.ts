import type { Clock } from '../../kernel/clock.ts'
import { ExplorerDeadline, explorerDeadlineMs } from './explorer.ts'

/** What a call may still take when its turn has come; `onOver` is called when that is over. */
export type Turn = { leftMs: number; onOver(end: () => void): void }

/**
 * Runs calls one after another. Each fails once its time, which counts from the call, is over,
 * also while it waits; what it does by then is told to end.
 */
export class InTurn {
  readonly #clock: Clock
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  run<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
    const clock = this.#clock
    const untilMs = clock.monotonicMs() + explorerDeadlineMs
    let isOver = false
    let end: (() => void) | undefined
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const timer = clock.after(explorerDeadlineMs, () => {
      isOver = true
      reject(new ExplorerDeadline('a read of the explorer took too long'))
      end?.()
    })
    const turn = this.#last.then(async () => {
      if (isOver) return
      const leftMs = Math.max(1, Math.ceil(untilMs - clock.monotonicMs()))
      const onOver = (given: () => void) => {
        end = given
      }
      try {
        resolve(await work({ leftMs, onOver }))
      } catch (error) {
        reject(error)
      } finally {
        end = undefined
        timer.cancel()
      }
    })
    this.#last = turn
    return promise
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await this.#last
  }
}
