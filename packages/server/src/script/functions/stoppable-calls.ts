import { ScriptFailure } from '../../kernel/play/script.ts'
import type { StoppedCall } from '../wire/protocol.ts'

/**
 * Which calls of the script end when nothing waits for them any more: their invocation is given up,
 * or has stopped them itself. Most calls never ask, and cost nothing here.
 */
export class StoppableCalls {
  /** By the number of the invocation, then by that of the call. */
  readonly #open = new Map<number, Map<number, AbortController>>()

  /** A call begins. `signal` makes it one that can be stopped, until `end`. */
  begin(call: StoppedCall): { signal(): AbortSignal; end(): void } {
    let made: AbortController | undefined
    return {
      signal: () => {
        made ??= this.#add(call)
        return made.signal
      },
      end: () => {
        if (made !== undefined) this.#remove(call)
      },
    }
  }

  stopOne({ invocation, id }: StoppedCall): void {
    this.#open.get(invocation)?.get(id)?.abort()
  }

  stop(invocation: number): void {
    for (const call of this.#open.get(invocation)?.values() ?? []) call.abort()
  }

  stopAll(): void {
    for (const invocation of this.#open.keys()) this.stop(invocation)
  }

  /** @throws ScriptFailure for a call like one that is open: both would end as one */
  #add({ invocation, id }: StoppedCall): AbortController {
    const made = new AbortController()
    const calls = this.#open.get(invocation) ?? new Map<number, AbortController>()
    if (calls.has(id)) throw new ScriptFailure('invalid_argument', `call ${id} is open already`)
    this.#open.set(invocation, calls.set(id, made))
    return made
  }

  #remove({ invocation, id }: StoppedCall): void {
    const calls = this.#open.get(invocation)
    calls?.delete(id)
    if (calls?.size === 0) this.#open.delete(invocation)
  }
}
