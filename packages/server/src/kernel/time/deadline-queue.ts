import type { Clock, Timer } from '../clock.ts'

/**
 * Who has the same time for the same thing. Since everybody gets the same delay, the order of
 * adding is the order of falling due, and one timer serves all.
 */
export type DeadlineQueue<Item> = {
  /** Starts the time of `item`, again if it was running. */
  add(item: Item): void
  remove(item: Item): void
  readonly size: number
}

export function createDeadlineQueue<Item>(
  { clock, delayMs }: { clock: Clock; delayMs: number },
  onDue: (item: Item) => void,
): DeadlineQueue<Item> {
  const dueMs = new Map<Item, number>()
  let timer: Timer | undefined

  function arm(): void {
    const next = dueMs.values().next()
    if (timer !== undefined || next.done) return
    timer = clock.after(Math.max(0, next.value - clock.monotonicMs()), () => {
      timer = undefined
      expire()
    })
  }

  function expire(): void {
    const nowMs = clock.monotonicMs()
    for (const [item, due] of dueMs) {
      if (due > nowMs) break
      dueMs.delete(item)
      onDue(item)
    }
    arm()
  }

  return {
    get size() {
      return dueMs.size
    },
    add(item) {
      dueMs.delete(item)
      dueMs.set(item, clock.monotonicMs() + delayMs)
      arm()
    },
    remove(item) {
      if (!dueMs.delete(item) || dueMs.size > 0) return
      timer?.cancel()
      timer = undefined
    },
  }
}
