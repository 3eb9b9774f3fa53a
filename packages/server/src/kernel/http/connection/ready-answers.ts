import type { ServerResponse } from 'node:http'
import { atEndOfTurn, type Clock } from '../../clock.ts'

/** An answer whose head is made, with its body or nothing more to be sent. */
type ReadyAnswer = {
  readonly response: ServerResponse
  readonly body: string | Buffer | undefined
  readonly encoding: BufferEncoding
}

/** How long an answer waits for others of its turn, if the turn goes on. */
const waitMs = 0.25

/**
 * Writes answers. Those that are ready in the turn of the event loop in which their requests came
 * are written together when it ends: to write one wakes its client, which costs more than
 * all else about a small answer. Others come from a database or a script in numbers anyway, and are
 * written at once. See docs/decisions/0004.
 */
export class ReadyAnswers {
  readonly #clock: Clock
  #turn = 0
  #isEnding = false
  #waiting: ReadyAnswer[] = []
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** To be called when a request comes; names the turn. */
  began(): number {
    if (!this.#isEnding) {
      this.#isEnding = true
      atEndOfTurn(() => {
        this.#isEnding = false
        this.#turn += 1
        this.#writeAll()
      })
    }
    return this.#turn
  }

  /** @param turn that in which the request came */
  add(answer: ReadyAnswer, turn: number): void {
    if (turn !== this.#turn) {
      write(answer)
      return
    }
    const nowMs = this.#clock.monotonicMs()
    if (this.#waiting.push(answer) === 1) this.#sinceMs = nowMs
    else if (nowMs - this.#sinceMs >= waitMs) this.#writeAll()
  }

  #writeAll(): void {
    const ready = this.#waiting
    this.#waiting = []
    for (const answer of ready) write(answer)
  }
}

function write({ response, body, encoding }: ReadyAnswer): void {
  if (response.destroyed) return
  if (body === undefined) response.end()
  else response.end(body, encoding)
}
