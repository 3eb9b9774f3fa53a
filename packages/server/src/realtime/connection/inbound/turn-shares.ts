import type { Envelope } from '@guildhall/contract'
import { atEndOfTurn } from '../../../kernel/clock.ts'

/** A connection that had its share of a turn, and has more. */
export type ShareWaiter = { takeShare(): void }

/** What one connection may take in one turn: so many envelopes, or as many KiB. */
export const shareOfTurn = 64
/** How many connections that wait get their share in one turn. */
const servedPerTurn = 8

/** What an envelope takes of a share. */
export function shareOf({ body }: Envelope): number {
  return 1 + (body.length >>> 10)
}

/**
 * Keeps one connection from having a turn of the event loop for itself: what it has sent beyond its
 * share waits for later turns, and between them everybody else is read.
 */
export class TurnShares {
  #turn = 0
  #endsTurn = false
  /** In the order in which they are served. */
  readonly #waiting = new Set<ShareWaiter>()

  /** The number of the present turn, in which somebody takes something. */
  turn(): number {
    this.#endLater()
    return this.#turn
  }

  /** Its next share comes in a later turn. */
  await(waiter: ShareWaiter): void {
    this.#waiting.add(waiter)
    this.#endLater()
  }

  #endLater(): void {
    if (this.#endsTurn) return
    this.#endsTurn = true
    atEndOfTurn(() => this.#next())
  }

  #next(): void {
    this.#endsTurn = false
    this.#turn += 1
    // Who has still more comes behind them, and waits for a later turn.
    let due = Math.min(servedPerTurn, this.#waiting.size)
    for (const waiter of this.#waiting) {
      if (due === 0) break
      due -= 1
      this.#waiting.delete(waiter)
      waiter.takeShare()
    }
    if (this.#waiting.size > 0) this.#endLater()
  }
}
