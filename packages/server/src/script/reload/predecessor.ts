import { protocolTimes } from '../wire/limits.ts'
import type { Revision } from './script-workers.ts'

/** So many failures soon after its activation, and a revision is given up. */
const failuresMax = 3

/** A revision that a reload has just activated. */
type Trial = { readonly untilMs: number; failures: number; isLost: boolean }

/**
 * The revision before the one that serves, which is loaded again when that one soon fails and
 * fails. The bytes of one are kept.
 */
export class Predecessor {
  #revision: Revision | undefined
  #trial: Trial | undefined
  readonly #givenUp = new Set<string>()

  /** Whether a rollback has given up this content. */
  hasGivenUp(id: string): boolean {
    return this.#givenUp.has(id)
  }

  /** A reload has put `next` in the place of `before`. */
  succeed(before: Revision | undefined, next: Revision, nowMs: number): void {
    this.#givenUp.delete(next.id)
    if (before === undefined || before.id === next.id) return
    this.#revision = before
    this.#trial = { untilMs: nowMs + protocolTimes.healthyAfterMs, failures: 0, isLost: false }
  }

  /** The serving revision has failed, or could not be started again. */
  failed(nowMs: number, { circuitOpen }: { circuitOpen: boolean }): void {
    const trial = this.#trial
    if (trial === undefined || nowMs > trial.untilMs) return
    trial.failures += 1
    trial.isLost ||= trial.failures >= failuresMax || circuitOpen
  }

  /** Whether the serving revision is to give way to the one before it. */
  get isWanted(): boolean {
    return this.#trial?.isLost ?? false
  }

  /** The one to load in its place; it is kept no longer. */
  takeFor(failing: Revision): Revision | undefined {
    const revision = this.#revision
    this.#revision = undefined
    this.#trial = undefined
    this.#givenUp.add(failing.id)
    return revision
  }
}
