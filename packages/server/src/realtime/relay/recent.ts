import type { Clock } from '../../kernel/clock.ts'

/** What was true a moment ago, until the directory says so; by key, each for the same time. */
export type Recent<Value> = {
  set(key: string, value: Value): void
  get(key: string): Value | undefined
  /** Forgets what it answers. */
  take(key: string): Value | undefined
}

export function createRecent<Value>(clock: Pick<Clock, 'monotonicMs'>, ms: number): Recent<Value> {
  /** In the order in which they were set. */
  const kept = new Map<string, { value: Value; untilMs: number }>()

  function get(key: string): Value | undefined {
    const found = kept.get(key)
    return found && found.untilMs > clock.monotonicMs() ? found.value : undefined
  }

  return {
    get,
    set(key, value) {
      const nowMs = clock.monotonicMs()
      for (const [each, { untilMs }] of kept) {
        if (untilMs > nowMs) break
        kept.delete(each)
      }
      kept.delete(key)
      kept.set(key, { value, untilMs: nowMs + ms })
    },
    take(key) {
      const found = get(key)
      kept.delete(key)
      return found
    },
  }
}
