import type { Clock } from '../clock.ts'

/** Works on items that have waited long enough and were not removed before. */
export type WaitBatch<Item> = {
  /** An item that waits already goes on waiting. */
  add(item: Item): void
  remove(item: Item): void
}

/**
 * Each item waits for at least half of `waitMs` and at most for all of it, measured by one timer
 * for all of them. One that is removed and added again begins anew.
 */
export function createWaitBatch<Item>(
  { clock, waitMs }: { clock: Clock; waitMs: number },
  work: (item: Item) => void,
): WaitBatch<Item> {
  let added = new Set<Item>()
  let due = new Set<Item>()
  let isTimed = false

  function startTimer(): void {
    if (isTimed) return
    isTimed = true
    clock.after(waitMs / 2, halfOver)
  }

  function halfOver(): void {
    isTimed = false
    const over = due
    due = added
    added = new Set()
    for (const item of over) work(item)
    if (due.size > 0) startTimer()
  }

  return {
    add(item) {
      if (due.has(item)) return
      added.add(item)
      startTimer()
    },
    remove(item) {
      if (!added.delete(item)) due.delete(item)
    },
  }
}
