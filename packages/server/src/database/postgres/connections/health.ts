import { type DatabaseState, DatabaseUnavailable } from '../../database.ts'

/**
 * What is known of the server. Statements can only raise a suspicion; two failed probes in a row
 * make it certain, and one good probe takes everything back.
 */
export class Health {
  #state: DatabaseState = 'up'
  #failedProbes = 0
  readonly #onDown: () => void

  constructor(onDown: () => void) {
    this.#onDown = onDown
  }

  get state(): DatabaseState {
    return this.#state
  }

  /** Throws at once while the server is down, so that nothing waits for a timeout. */
  check(): void {
    if (this.#state === 'down') throw new DatabaseUnavailable('the database is down')
  }

  /** A statement met an error of the connection class. */
  suspect(): void {
    if (this.#state === 'up') this.#state = 'suspect'
  }

  probed(good: boolean): void {
    if (good) {
      this.#failedProbes = 0
      this.#state = 'up'
      return
    }
    this.#failedProbes += 1
    if (this.#failedProbes === 1) {
      this.suspect()
    } else if (this.#state !== 'down') {
      this.#state = 'down'
      this.#onDown()
    }
  }
}
