import { atEndOfTurn } from '../../clock.ts'

/** How many begin in one turn. */
const perTurn = 16

/**
 * Requests that clients send ahead, behind others without an answer: a few begin in each turn of
 * the event loop, in order, so that those who wait for one answer are served in between.
 */
export class LaterTurns {
  #waiting: (() => void)[] = []
  #next = 0

  add(begin: () => void): void {
    this.#waiting.push(begin)
    if (this.#waiting.length === 1) atEndOfTurn(() => this.#begin())
  }

  #begin(): void {
    const end = Math.min(this.#next + perTurn, this.#waiting.length)
    for (; this.#next < end; this.#next += 1) this.#waiting[this.#next]?.()
    if (this.#next < this.#waiting.length) atEndOfTurn(() => this.#begin())
    else {
      this.#waiting = []
      this.#next = 0
    }
  }
}
