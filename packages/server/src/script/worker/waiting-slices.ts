import type { Clock } from '../../kernel/clock.ts'
import type { CallRecord } from '../wire/call-records.ts'
import type { Scope } from './engines/engine.ts'
import { isStateMade } from './handlers.ts'
import { HostSet } from './host-map.ts'
import type { Invocation } from './invocation.ts'

type WaitingSlicesDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  engine: { readonly scope: Pick<Scope, 'noteSlices'> }
  wantTurnEnd: () => void
}

/** What is written outside of these slices, such as by a timer, is seen so much later at most. */
const lookEveryMs = 1_000

/** The handlers of rooms with state that wait, and those of which a slice may have ended unseen. */
export class WaitingSlices {
  readonly #deps: WaitingSlicesDeps
  readonly #waiting = new HostSet<Invocation>()
  readonly #unseen = new HostSet<Invocation>()
  #areNoted = false
  #lookedMs = 0

  constructor(deps: WaitingSlicesDeps) {
    this.#deps = deps
  }

  has(invocation: Invocation): boolean {
    return this.#waiting.has(invocation)
  }

  /** Slices are noted from the first room with state on. */
  expect(call: CallRecord): void {
    if (this.#areNoted || !isStateMade(call)) return
    this.#areNoted = true
    this.#deps.engine.scope.noteSlices?.((begun) => this.#note(begun))
  }

  /** Its first slice has ended, unseen. */
  add(invocation: Invocation): void {
    this.#waiting.add(invocation)
    this.#unseen.add(invocation)
  }

  remove(invocation: Invocation): void {
    this.#waiting.delete(invocation)
    this.#unseen.delete(invocation)
  }

  seen(invocation: Invocation): void {
    this.#unseen.delete(invocation)
  }

  /** Of which a slice may have ended in this turn. */
  unseen(): Iterable<Invocation> {
    const nowMs = this.#deps.clock.monotonicMs()
    if (nowMs < this.#lookedMs + lookEveryMs) return this.#unseen
    this.#lookedMs = nowMs
    return this.#waiting
  }

  #note(begun: Invocation): void {
    if (!this.#waiting.has(begun)) return
    this.#unseen.add(begun)
    this.#deps.wantTurnEnd()
  }
}
