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

/** What is written outside of these slices, such as by a timer, is looked for so often. */
const lookEveryMs = 1_000
/** And for so long in one turn, in milliseconds: a room more, and the others in later turns. */
const lookMsMax = 1

/** The handlers of rooms with state that wait, and those of which a slice may have ended unseen. */
export class WaitingSlices {
  readonly #deps: WaitingSlicesDeps
  readonly #waiting = new HostSet<Invocation>()
  readonly #unseen = new HostSet<Invocation>()
  #areNoted = false
  #lookedMs = 0
  /** Those that are still to be looked at. */
  readonly #due = new HostSet<Invocation>()

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
    this.seen(invocation)
  }

  seen(invocation: Invocation): void {
    this.#unseen.delete(invocation)
    this.#due.delete(invocation)
  }

  /** Those of which a slice may have ended in this turn, and of all others as many as are due. */
  endTurn(check: (invocation: Invocation) => void): void {
    for (const invocation of this.#unseen) check(invocation)
    const { clock, wantTurnEnd } = this.#deps
    const startMs = clock.monotonicMs()
    if (this.#due.size === 0 && startMs >= this.#lookedMs + lookEveryMs) {
      this.#lookedMs = startMs
      for (const invocation of this.#waiting) this.#due.add(invocation)
    }
    for (const invocation of this.#due) {
      check(invocation)
      if (clock.monotonicMs() >= startMs + lookMsMax) break
    }
    if (this.#due.size > 0) wantTurnEnd()
  }

  #note(begun: Invocation): void {
    if (!this.#waiting.has(begun)) return
    this.#unseen.add(begun)
    this.#deps.wantTurnEnd()
  }
}
