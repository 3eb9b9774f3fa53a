import { GuildhallError } from '@guildhall/client'
import type { Clock } from '../kernel/clock.ts'

/** What became of all calls of one name. */
export type CallReport = {
  name: string
  count: number
  per_second: number
  p50_ms: number
  p99_ms: number
  errors: number
  first_error: string | null
}

type Calls = { times: number[]; errors: number; firstError: string | null }

/** Counts and times what bots do, by name. */
export class BotCalls {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #names = new Map<string, Calls>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Runs a call and counts it; one that fails because the time was over is not counted. */
  async time<T>(name: string, run: () => T | Promise<T>, over?: AbortSignal): Promise<T> {
    const startMs = this.#clock.monotonicMs()
    try {
      const result = await run()
      this.#of(name).times.push(this.#clock.monotonicMs() - startMs)
      return result
    } catch (error) {
      if (!over?.aborted) this.failed(name, error)
      throw error
    }
  }

  failed(name: string, error: unknown): void {
    const calls = this.#of(name)
    calls.errors += 1
    calls.firstError ??= errorText(error)
  }

  /** Failing calls among all, 0 to 1. */
  errorRate(): number {
    let [all, errors] = [0, 0]
    for (const calls of this.#names.values()) {
      all += calls.times.length + calls.errors
      errors += calls.errors
    }
    return all === 0 ? 0 : errors / all
  }

  report(seconds: number): CallReport[] {
    return Array.from(this.#names, ([name, { times, errors, firstError }]) => {
      const sorted = times.toSorted((a, b) => a - b)
      const quantile = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
      const count = times.length + errors
      const per_second = count / seconds
      const [p50_ms, p99_ms] = [quantile(0.5), quantile(0.99)]
      return { name, count, per_second, p50_ms, p99_ms, errors, first_error: firstError }
    })
  }

  #of(name: string): Calls {
    const calls = this.#names.get(name) ?? { times: [], errors: 0, firstError: null }
    this.#names.set(name, calls)
    return calls
  }
}

/** What is shown of an error: its code too, where it has one. */
function errorText(error: unknown): string {
  if (error instanceof GuildhallError) return `${error.code}: ${error.message}`
  return error instanceof Error ? error.message : String(error)
}
