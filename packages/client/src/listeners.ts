/** Ends a subscription; a second call does nothing. */
export type Off = () => void

type Call = (value: never, more: never) => unknown

/**
 * Functions by event, called in the order of their registration. One that throws does not disturb
 * the others: its error goes to `failed`.
 */
export class Listeners<Event extends string | number> {
  readonly #byEvent = new Map<Event, Set<{ call: Call }>>()
  readonly #failed: (error: unknown) => void

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  on(event: Event, call: Call): Off {
    const registered = { call }
    const listeners = this.#byEvent.get(event) ?? new Set()
    this.#byEvent.set(event, listeners.add(registered))
    return () => {
      listeners.delete(registered)
    }
  }

  has(event: Event): boolean {
    return (this.#byEvent.get(event)?.size ?? 0) > 0
  }

  /** The events' own functions know what their values are; here they only pass through. */
  emit(event: Event, ...values: unknown[]): void {
    for (const { call } of [...(this.#byEvent.get(event) ?? [])]) this.#call(call, values)
  }

  clear(): void {
    this.#byEvent.clear()
  }

  #call(call: (...values: never[]) => unknown, values: unknown[]): void {
    try {
      const result = call(...(values as never[]))
      // An async listener fails later, and no less.
      if (result instanceof Promise) result.catch(this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }
}
