/**
 * Which calls of the script end when the invocation that waits for them is given up. Most calls
 * never ask, and cost nothing here.
 */
export class StoppableCalls {
  readonly #open = new Map<number, Set<AbortController>>()

  /** A call begins. `signal` makes it one that can be stopped, until `end`. */
  begin(invocation: number): { signal(): AbortSignal; end(): void } {
    let made: AbortController | undefined
    return {
      signal: () => {
        made ??= this.#add(invocation)
        return made.signal
      },
      end: () => {
        if (made !== undefined) this.#remove(invocation, made)
      },
    }
  }

  stop(invocation: number): void {
    for (const call of this.#open.get(invocation) ?? []) call.abort()
  }

  stopAll(): void {
    for (const invocation of this.#open.keys()) this.stop(invocation)
  }

  #add(invocation: number): AbortController {
    const call = new AbortController()
    const calls = this.#open.get(invocation) ?? new Set()
    this.#open.set(invocation, calls.add(call))
    return call
  }

  #remove(invocation: number, call: AbortController): void {
    const calls = this.#open.get(invocation)
    calls?.delete(call)
    if (calls?.size === 0) this.#open.delete(invocation)
  }
}
