/** Waiting times that double from `firstMs` up to `maxMs` until a success resets them. */
export type Backoff = {
  next(): number
  reset(): void
}

export function backoff(firstMs: number, maxMs: number): Backoff {
  let upcomingMs = firstMs
  return {
    next() {
      const delayMs = upcomingMs
      upcomingMs = Math.min(upcomingMs * 2, maxMs)
      return delayMs
    },
    reset() {
      upcomingMs = firstMs
    },
  }
}
