import type { Clock } from '../../kernel/clock.ts'
import { ExplorerDeadline, explorerDeadlineMs } from './explorer.ts'

/** What a call may still take when its turn has come; `onOver` is called when that is over. */
export type Turn = { leftMs: number; onOver(end: () => void): void }

/** Waits for its turn, and runs. */
export type TurnRun = <T>(work: (turn: Turn) => Promise<T>) => Promise<T>

/**
 * Runs calls one after another. The calls of one `begin` share one deadline, which counts from
 * there; each of them fails once it has passed, also while it waits, and what it does by then is
 * asked to end.
 */
export class InTurn {
  readonly #clock: Clock
  #last: Promise<unknown> = Promise.resolve()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(): TurnRun {
    const untilMs = this.#clock.monotonicMs() + explorerDeadlineMs
    return (work) => this.#run(untilMs, work)
  }

  #run<T>(untilMs: number, work: (turn: Turn) => Promise<T>): Promise<T> {
    const clock = this.#clock
    const leftMs = () => Math.ceil(untilMs - clock.monotonicMs())
    if (leftMs() <= 0) return Promise.reject(deadlinePassed())
    let isOver = false
    let end: (() => void) | undefined
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const timer = clock.after(leftMs(), () => {
      isOver = true
      reject(deadlinePassed())
      end?.()
    })
    const turn = this.#last.then(async () => {
      if (isOver) return
      const onOver = (given: () => void) => {
        end = given
      }
      try {
        resolve(await work({ leftMs: Math.max(1, leftMs()), onOver }))
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

function deadlinePassed(): ExplorerDeadline {
  return new ExplorerDeadline('a read of the explorer took too long')
}
